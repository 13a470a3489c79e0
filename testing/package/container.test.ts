import { expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "../harness/project.ts";
import { instructionsOf, listIn } from "./image.ts";

const instructions = new Map(instructionsOf().map(({ name, rest }) => [name, rest]));

const microapps = async (...parameters: string[]): Promise<string> => {
  const command = join(repository, "dist/bundle/microapps.js");
  return (await promisify(execFile)(process.execPath, ["--no-warnings", command, ...parameters])).stdout;
};

test("the commands and flags of the Dockerfile are there", async () => {
  const [command, ...parameters] = listIn(instructions.get("ENTRYPOINT"));
  expect([command, parameters[0]]).toEqual(["microapps", "emulator"]);
  const help = await microapps("emulator", "--help");
  const flags = parameters.filter((parameter) => parameter.startsWith("--"));
  expect(flags).toEqual(["--host", "--port", "--data"]);
  for (const flag of [...flags, "--seed"]) expect(help).toContain(`${flag} <`);
  const [asking, ...health] = listIn(instructions.get("HEALTHCHECK"));
  expect([asking, ...health.slice(0, 2)]).toEqual(["microapps", "emulator", "health"]);
  expect(await microapps("emulator", "health", "--help")).toContain("emulator health");
  expect(health[2]).toBe(`http://127.0.0.1:${instructions.get("EXPOSE")}`);
  expect(parameters[parameters.indexOf("--port") + 1]).toBe(instructions.get("EXPOSE"));
});

test("it runs as nobody special, on a volume", () => {
  expect(instructions.get("USER")).toBe("node");
  const entry = listIn(instructions.get("ENTRYPOINT"));
  expect(entry[entry.indexOf("--data") + 1]).toMatch(new RegExp(`^${instructions.get("VOLUME")}/`));
});
