import { expect, test } from "@jest/globals";
import { isPipeline, withoutCommands } from "./text.ts";

test("a pipeline carries out nothing that was said", () => {
  expect(withoutCommands("::add-mask::x\n  ::set-output name=a::b\n/approve\nno ::command, 1/2")).toBe(
    "|::add-mask::x\n  |::set-output name=a::b\n|/approve\nno ::command, 1/2",
  );
  expect(withoutCommands("##[error]x\nand ##vso[task.setvariable]y ##VSO[z]")).toBe(
    "#|#[error]x\nand #|#vso[task.setvariable]y #|#VSO[z]",
  );
});

test("pipelines are known by what they set", () => {
  expect([{ CI: "true" }, { GITHUB_ACTIONS: "true" }, { TF_BUILD: "True" }].map(isPipeline)).toEqual([
    true,
    true,
    true,
  ]);
  expect([{}, { CI: "false" }].map(isPipeline)).toEqual([false, false]);
});
