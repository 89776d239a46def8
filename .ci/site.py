"""Copies the pages to a folder for MkDocs: site.py FOLDER. Links to sources lead to the javadoc of public types, or to a copy of the file."""

import os
import re
import shutil
import subprocess
import sys

TARGET = sys.argv[1]
PAGES = os.path.join(TARGET, "docs")
# The page of the project comes first; that of all pages, which is docs/README.md, would have the same name.
NAMES = {"README.md": "index.md", "docs/README.md": "pages.md", "CHANGELOG.md": "changelog.md"}
STARTER = "lock-zk/spring-boot-starter/"
ELSEWHERE = {STARTER + "README.md": "spring-boot.md", STARTER + "properties.md": "spring-boot-properties.md"}
LINK = re.compile(r"(\]\()([^)\s]+)(\))|(?m:^(\[[^\]]+\]: )(\S+)$)")
CODE = re.compile(r"(?ms)^```.*?^```$|`[^`\n]*`")
INSIDE = re.compile(r"/(internal|sim)/")
PUBLIC = re.compile(r"^(lock-api(?:/micrometer)?|lock-zk|lock-testkit)/src/main/java/(.*)\.java$")


def place(file):
    """Where a page of the repository is in the site's source."""
    return NAMES.get(file) or ELSEWHERE.get(file) or os.path.relpath(file, "docs")


def target_of(link, page):
    """A link as it is in the site."""
    if re.match(r"[a-z]+:|#", link):
        return link
    path, _, heading = link.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(page), path))
    here = os.path.dirname(place(page))
    if file.endswith(".md") and (file in NAMES or file in ELSEWHERE or file.startswith("docs/")):
        return os.path.relpath(place(file), here or ".") + ("#" + heading if heading else "")
    if file.startswith("docs/"):
        return os.path.relpath(os.path.relpath(file, "docs"), here or ".")
    public = PUBLIC.match(file)
    if public and not INSIDE.search(file) and os.path.isdir(public.group(1) + "/target/reports/apidocs"):
        name = re.sub(r"/package-info$", "/package-summary", public.group(2))
        return os.path.relpath("javadoc/" + public.group(1).replace("/", "-") + "/" + name + ".html", here or ".")
    copied = "source/" + file + ("/files.txt" if os.path.isdir(file) else ".txt")
    to = os.path.join(PAGES, copied)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if os.path.isdir(file):
        with open(to, "w") as out:
            out.write(subprocess.check_output(["git", "ls-files", file], text=True))
    else:
        shutil.copy(file, to)
    return os.path.relpath(copied, here or ".")


def converted(text, page):
    def link(found):
        if found.group(1):
            return found.group(1) + target_of(found.group(2), page) + found.group(3)
        return found.group(4) + target_of(found.group(5), page)

    done, end = [], 0
    for code in CODE.finditer(text):
        done += [LINK.sub(link, text[end : code.start()]), code.group()]
        end = code.end()
    return "".join(done + [LINK.sub(link, text[end:])])


def titles(pages):
    with open("docs/README.md") as all_pages:
        section, seen, nav = None, set(), []
        for line in all_pages:
            if line.startswith("## "):
                section = line[3:].strip()
                nav.append((section, []))
            for link in re.findall(r"\]\(([^)#\s]+\.md)", line) if section else []:
                page = os.path.normpath(os.path.join("docs", link))
                if page in pages and page not in seen and page not in NAMES:
                    seen.add(page)
                    nav[-1][1].append(page)
        return nav


def title(page):
    with open(page) as text:
        return re.sub(r"[`*]", "", text.readline().lstrip("# ").strip()).replace('"', "'")


def copy_javadoc():
    for module in ("lock-api", "lock-api/micrometer", "lock-zk", "lock-testkit"):
        made = module + "/target/reports/apidocs"
        if os.path.isdir(made):
            shutil.copytree(made, os.path.join(PAGES, "javadoc", module.replace("/", "-")))


def main():
    copy_javadoc()
    listed = subprocess.check_output(["git", "ls-files", "--cached", "--others", "--exclude-standard", "docs"], text=True).split()
    files = [file for file in listed if os.path.exists(file)]
    files += ["README.md", "CHANGELOG.md", *ELSEWHERE]
    pages = [file for file in files if file.endswith(".md")]
    for file in files:
        to = os.path.join(PAGES, place(file))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if file in pages:
            with open(file) as text, open(to, "w") as out:
                out.write(converted(text.read(), file))
        else:
            shutil.copy(file, to)
    with open(os.path.join(TARGET, "mkdocs.yml"), "w") as out:
        out.write("site_name: Latchkey\ndocs_dir: docs\nuse_directory_urls: false\n")
        out.write("theme:\n  name: readthedocs\n  highlightjs: true\n")
        out.write("markdown_extensions:\n  - tables\n  - fenced_code\n  - toc:\n      permalink: false\n")
        out.write('nav:\n  - "Latchkey": index.md\n  - "All pages": pages.md\n')
        for section, of_section in titles(pages):
            out.write('  - "%s":\n' % section)
            for page in of_section:
                out.write('      - "%s": %s\n' % (title(page), place(page)))
        out.write('  - "Changes": changelog.md\n')


main()
