import { expect, test } from "@jest/globals";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const repository = join(import.meta.dirname, "../..");
const pages = ["*.md", "docs/**/*.md", "examples/*/*.md", "examples/*.md", "emulator/*.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: repository }),
);

const text = (page: string): string => readFileSync(join(repository, page), "utf8");
const withoutCode = (page: string): string => page.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "");

/** Anchors of a page's headings, as GitHub writes them. */
function anchorsIn(page: string): Set<string> {
  const headings = page.replaceAll(/^```.*?^```/gms, "").matchAll(/^#+ (.*)$/gm);
  const slugs = [...headings].map(([, heading = ""]) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-"),
  );
  return new Set(
    slugs.map((slug, at) =>
      slugs.indexOf(slug) === at ? slug : `${slug}-${slugs.slice(0, at).filter((each) => each === slug).length}`,
    ),
  );
}

/** Links of a page that lead nowhere. */
function deadLinks(page: string, content = text(page)): string[] {
  const links = [...withoutCode(content).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (path !== "" && !existsSync(join(repository, target))) return true;
    return anchor !== undefined && !anchorsIn(target === page ? content : text(target)).has(anchor);
  });
}

test.each(pages)("%s has no dead link", (page) => {
  expect(deadLinks(page)).toEqual([]);
});

test("a dead link is found: a page, an anchor, an anchor of this page", () => {
  const content =
    "# Here\n[a](none.md) [b](endpoints.md#none) [c](#none) [d](endpoints.md#login) [e](#here) [f](https://example.com)\n`[g](none.md)`\n";
  expect(deadLinks("docs/page.md", content)).toEqual(["none.md", "endpoints.md#none", "#none"]);
});

test("each page of the documentation is linked from README or the first page of the registry", () => {
  const seen = new Set<string>();
  const visit = (page: string): void => {
    if (seen.has(page) || !page.endsWith(".md") || !existsSync(join(repository, page))) return;
    seen.add(page);
    for (const [, link = ""] of text(page).matchAll(/\]\(([^)#\s]+)/g)) visit(normalize(join(dirname(page), link)));
  };
  visit("README.md");
  expect(pages.filter((page) => page.startsWith("docs/") && !seen.has(page))).toEqual([]);
});
