import { expect } from "@jest/globals";
import { leftRunning } from "./processes.ts";
import type { Project } from "./project.ts";

/** Removes a project and closes its platform; fails when a process that was started there still runs. */
export async function endedCleanly(project: Project, platform?: { close: () => Promise<void> }): Promise<void> {
  const left = await leftRunning(project.folder);
  await project.remove();
  await platform?.close();
  expect(left).toEqual([]);
}
