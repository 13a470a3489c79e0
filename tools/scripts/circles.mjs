// No file imports itself by way of others; what is imported for types alone does not count. Part of `make check`, where a
// rule of ESLint takes a minute for it.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const files = globSync("{cli,emulator,engine,examples,machine,provider,sdk,testing,tools}/**/*.ts", {
  exclude: ["**/node_modules", "**/testdata"],
});
const statement = /^(?:import|export)\s+(?!type\s)(?:([^"';]*?)\sfrom\s+)?"(\.[^"]+)"/gm;
const later = /(?<!typeof )\bimport\("(\.[^"]+)"\)/g;
const onlyTypes = /^\{(\s*type\s[^,}]+,?)+\s*\}$/;

const importsOf = (file) => {
  const text = readFileSync(file, "utf8");
  const statements = [...text.matchAll(statement)].filter(([, names = ""]) => !onlyTypes.test(names.trim()));
  const found = [...statements.map(([, , path]) => path), ...[...text.matchAll(later)].map(([, path]) => path)];
  return found.map((path) => join(dirname(file), path));
};
const imports = new Map(files.map((file) => [file, importsOf(file)]));

const left = new Set();
const chain = [];
function follow(file) {
  if (left.has(file)) return;
  const start = chain.indexOf(file);
  if (start >= 0) {
    console.error(`imports go in a circle: ${[...chain.slice(start), file].join(" → ")}`);
    process.exit(1);
  }
  chain.push(file);
  for (const imported of imports.get(file) ?? []) follow(imported);
  chain.pop();
  left.add(file);
}
files.forEach(follow);
