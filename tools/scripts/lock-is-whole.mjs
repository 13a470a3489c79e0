// Exits with 1, naming each, where the lock file would install something that it does not name by its content.
import { readFileSync } from "node:fs";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const unnamed = Object.entries(packages)
  .filter(([path, { link, integrity }]) => path.includes("node_modules/") && !link && !/^sha512-/.test(integrity))
  .map(([path, { version }]) => `${path} ${version}`);
if (unnamed.length > 0) {
  console.error(
    `package-lock.json has no integrity of ${unnamed.join(", ")}: choose versions that the registry has for all systems, and lock them anew.`,
  );
  process.exit(1);
}
