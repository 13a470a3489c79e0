import { beforeEach, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { FileRefusal, maxMegabytesOfLayer, openFile, readText, textIfAny } from "./files.ts";
import { toGitEnvironment } from "./git.ts";

let folder: string;
let program: string;
beforeEach(() => {
  folder = temporaryFolder();
  program = join(folder, "repository/projects/crew");
  mkdirSync(program, { recursive: true });
  mkdirSync(join(folder, "repository/.git"));
  mkdirSync(join(folder, "repository/shared"));
  writeFileSync(join(folder, "repository/shared/base.yaml"), "shared");
  writeFileSync(join(program, "dev.yaml"), "own");
  writeFileSync(join(folder, "credentials"), "secret of the runner");
});

/** The result of opening the file asynchronously and synchronously, which must be equal. */
async function said(name: string): Promise<string> {
  const opened = openFile(program, name, maxMegabytesOfLayer).then(async (file) => {
    const text = await file.readFile("utf8");
    await file.close();
    return text;
  });
  const [one, other] = [await opened.catch(reasonOf), attempt(() => readText(program, name, maxMegabytesOfLayer))];
  expect(other).toBe(one);
  return one;
}
const reasonOf = (error: unknown): string => {
  if (error instanceof FileRefusal) return `refused: ${error.message}`;
  return (error as NodeJS.ErrnoException).code ?? "";
};
function attempt(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return reasonOf(error);
  }
}

test("a file of the repository is read, from above, by its whole path and through a link within", async () => {
  expect(await said("dev.yaml")).toBe("own");
  expect(await said("../../shared/base.yaml")).toBe("shared");
  expect(await said(join(folder, "repository/shared/base.yaml"))).toBe("shared");
  symlinkSync("../../shared", join(program, "linked"));
  symlinkSync("dev.yaml", join(program, "prod.yaml"));
  expect(await said("linked/base.yaml")).toBe("shared");
  expect(await said("prod.yaml")).toBe("own");
});

test("what Git keeps for itself is not, by a link neither: it may hold a credential", async () => {
  const git = join(folder, "repository/.git/config");
  writeFileSync(git, "[core]\n");
  symlinkSync(git, join(program, "rows.csv"));
  for (const name of ["../../.git/config", "rows.csv", git])
    expect(await said(name)).toBe("refused: it is in the folder of Git; name another");
});

test("what is outside is not, however it is named", async () => {
  const outside = expect.stringMatching(/^refused: it is outside of the repository/) as unknown as string;
  symlinkSync(join(folder, "credentials"), join(program, "direct.yaml"));
  symlinkSync(folder, join(program, "around"));
  symlinkSync("direct.yaml", join(program, "twice.yaml"));
  symlinkSync("/proc/self/environ", join(program, "environment.yaml"));
  const names = [
    "direct.yaml",
    "around/credentials",
    "twice.yaml",
    "../../../credentials",
    join(folder, "credentials"),
  ];
  for (const name of [...names, "environment.yaml", "/etc/passwd", "/dev/zero"])
    expect(await said(name)).toEqual(outside);
  expect(await said("missing.yaml")).toBe("ENOENT");
  expect(await said("../../../missing.yaml")).toBe("ENOENT");
});

test("devices, pipes, sockets and folders are refused without waiting for them", async () => {
  execFileSync("mkfifo", [join(program, "pipe.csv")]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(program, "socket.csv"), resolve));
  expect(await said("pipe.csv")).toMatch(/^refused: it is a device, a pipe or a socket/);
  expect(await said("socket.csv")).toMatch(/^(refused|ENXIO)/);
  expect(await said(".")).toMatch(/^refused: it is a folder/);
  await new Promise((resolve) => server.close(resolve));
});

test("without Git the folder of Pulumi.yaml is the bound, and without that the program's own", async () => {
  rmSync(join(folder, "repository/.git"), { recursive: true });
  const outside = expect.stringMatching(/^refused: it is outside/) as unknown as string;
  expect(await said("../../shared/base.yaml")).toEqual(outside);
  expect(await said("dev.yaml")).toBe("own");
  writeFileSync(join(folder, "repository/Pulumi.yaml"), "name: crew");
  expect(await said("../../shared/base.yaml")).toBe("shared");
});

test("a file that can't be read is not taken for none", () => {
  writeFileSync(join(program, "large.yaml"), "");
  truncateSync(join(program, "large.yaml"), (maxMegabytesOfLayer + 1) * 2 ** 20);
  symlinkSync(join(folder, "credentials"), join(program, "link.yaml"));
  const text = (name: string): string | undefined => textIfAny(program, name);
  expect(text("dev.yaml")).toBe("own");
  expect(text("none.yaml")).toBeUndefined();
  expect(() => text("large.yaml")).toThrow("large.yaml can't be read, and it may decide what a run does: it has more");
  expect(() => text("link.yaml")).toThrow("link.yaml can't be read, and it may decide what a run does: it is outside");
});

test("Git, whose filters are programs of a branch, never has the passphrase", () => {
  const before = process.env["PULUMI_CONFIG_PASSPHRASE"];
  process.env["PULUMI_CONFIG_PASSPHRASE"] = "correct-horse";
  try {
    expect(JSON.stringify(toGitEnvironment())).not.toContain("correct-horse");
    expect(toGitEnvironment()).toMatchObject({ GIT_TERMINAL_PROMPT: "0", PATH: process.env["PATH"] });
  } finally {
    if (before === undefined) delete process.env["PULUMI_CONFIG_PASSPHRASE"];
    else process.env["PULUMI_CONFIG_PASSPHRASE"] = before;
  }
});
