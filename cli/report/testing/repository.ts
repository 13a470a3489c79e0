import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ChangeSet, EnvironmentChanges } from "../changeSet.ts";
import { report, type ReportRequest } from "../report.ts";

const project = "name: tests\nruntime: nodejs\nbackend: { url: file://. }\n";

/** A Git repository with a project at its root. */
export class Repository {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-repository-")));

  constructor(files: Readonly<Record<string, string>>) {
    this.git("init", "--quiet", "--initial-branch=main");
    this.commit({ "Pulumi.yaml": project, ...files });
  }

  git(...words: string[]): string {
    const who = ["-c", "user.name=Tests", "-c", "user.email=tests@example.com", "-c", "commit.gpgsign=false"];
    return execFileSync("git", [...who, ...words], {
      cwd: this.folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      writeFileSync(join(this.folder, file), text);
    }
  }

  commit(files: Readonly<Record<string, string>> = {}): void {
    this.write(files);
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message=more");
  }

  report(more: Partial<ReportRequest> = {}): Promise<ChangeSet> {
    return report({ folder: this.folder, base: "HEAD", stacks: [], ...more });
  }

  /** The report of the one environment. */
  async environment(more: Partial<ReportRequest> = {}): Promise<EnvironmentChanges> {
    const [environment, ...others] = (await this.report(more)).environments;
    if (!environment || others.length > 0) throw new Error(JSON.stringify([environment, ...others]));
    return environment;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
