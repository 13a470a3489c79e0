import { problemsOfExamples } from "./files.ts";
import { committedSchema } from "./schema.ts";
import { verdicts } from "./toolchains.ts";

// `make check`: what the example programs name is held against plugin/schema.json, with Node alone; then each language's own
// tools read them, where they are installed.
const named = problemsOfExamples(committedSchema());
const judged = named.length > 0 ? [] : verdicts();
for (const { note } of judged) if (note !== undefined) process.stdout.write(`${note}\n`);
const problems = [...named, ...judged.flatMap(({ problems }) => problems)];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
