// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.AdditionalPathsMapper;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.boot.health.actuate.endpoint.AdditionalHealthEndpointPath;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.actuate.endpoint.HttpCodeStatusMapper;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Makes the health of the lock client a part of the readiness probe: an instance without a server gets no requests.
 * Liveness is not affected, since the client reconnects by itself. If the application has set the members of that group
 * itself, they stay as they are.
 */
@Order(Ordered.LOWEST_PRECEDENCE)
final class LocksReadiness implements HealthEndpointGroupsPostProcessor {
    private static final String GROUP = "readiness";
    private static final String MEMBERS = "management.endpoint.health.group.readiness.include";

    private final boolean byApplication;

    LocksReadiness(Environment environment) {
        byApplication = environment.containsProperty(MEMBERS) || environment.containsProperty(MEMBERS + "[0]");
    }

    @Override
    public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
        HealthEndpointGroup readiness = groups.get(GROUP);
        return byApplication || readiness == null ? groups : new Groups(groups, new Group(readiness));
    }

    private record Groups(HealthEndpointGroups all, HealthEndpointGroup readiness)
            implements HealthEndpointGroups, AdditionalPathsMapper {
        @Override
        public HealthEndpointGroup getPrimary() {
            return all.getPrimary();
        }

        @Override
        public Set<String> getNames() {
            return all.getNames();
        }

        @Override
        public @Nullable HealthEndpointGroup get(String name) {
            return name.equals(GROUP) ? readiness : all.get(name);
        }

        @Override
        public @Nullable List<String> getAdditionalPaths(EndpointId endpoint, WebServerNamespace namespace) {
            return all instanceof AdditionalPathsMapper mapper ? mapper.getAdditionalPaths(endpoint, namespace) : null;
        }
    }

    private record Group(HealthEndpointGroup group) implements HealthEndpointGroup {
        @Override
        public boolean isMember(String name) {
            return name.equals("locks") || group.isMember(name);
        }

        @Override
        public boolean showComponents(SecurityContext context) {
            return group.showComponents(context);
        }

        @Override
        public boolean showDetails(SecurityContext context) {
            return group.showDetails(context);
        }

        @Override
        public StatusAggregator getStatusAggregator() {
            return group.getStatusAggregator();
        }

        @Override
        public HttpCodeStatusMapper getHttpCodeStatusMapper() {
            return group.getHttpCodeStatusMapper();
        }

        @Override
        public @Nullable AdditionalHealthEndpointPath getAdditionalPath() {
            return group.getAdditionalPath();
        }
    }
}
