import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { Document } from "yaml";
import { isMap, Scalar } from "yaml";
import { EngineError, Refusal } from "../errors.ts";
import { writeDurably } from "../state/atomicWrite.ts";
import { isObject } from "../values/json.ts";
import { Cipher, configKey, type ConfigValue, configValue, refuseForeignSecrets } from "./config.ts";
import { filesIn, stackFileAmong, stackFileOf } from "./names.ts";
import { readBelieved, type Project } from "./project.ts";
import { type GoValue, stackContent, strictDocument } from "./strict.ts";

/** Pulumi.<stack>.yaml; edits keep its comments and order. */
export class StackFile {
  readonly file: string;
  readonly #document: Document;
  readonly #project: string;

  constructor(project: Project, stack: string) {
    const projectFile = path.basename(project.file);
    this.file = path.join(project.stackConfigDir, stackFileOf(stack, projectFile));
    const { why } = stackFileAmong(filesIn(project.stackConfigDir), stack, projectFile);
    if (why !== undefined) throw new Refusal(`${project.stackConfigDir}: ${why}`);
    this.#project = project.name;
    const text = existsSync(this.file) ? readFileSync(this.file, "utf8") : "";
    // Everything is read as text, so that what is not edited is written as it was, `0777` too.
    this.#document = readBelieved(this.file, () => strictDocument(text));
    refuseForeignSecrets(this.#raw(), this.file);
  }

  #raw(): Record<string, GoValue> {
    if (this.#document.contents === null) return {};
    // Edits count as they will be read.
    const written = this.#document.toString({ lineWidth: 0 });
    return readBelieved(this.file, () => stackContent(strictDocument(written)));
  }

  get salt(): string | undefined {
    const salt = this.#raw()["encryptionsalt"];
    return typeof salt === "string" && salt !== "" ? salt : undefined;
  }

  set salt(salt: string | undefined) {
    this.#document.setIn(["encryptionsalt"], salt);
  }

  /** The configuration by `namespace:name`. */
  values(): Record<string, ConfigValue> {
    const config = this.#raw()["config"];
    if (config === undefined || config === null) return {};
    if (!isObject(config)) throw new EngineError(`${this.file}: 'config' must be a map`); // as was just seen
    // A key without a value has an empty one, as with Pulumi.
    return Object.fromEntries(Object.entries(config).map(([key, value]) => [this.#key(key), configValue(value ?? "")]));
  }

  #key(written: string): string {
    if (!written.includes(":")) {
      throw new EngineError(
        `${this.file}: '${written}' is not a configuration key: write '${this.#project}:${written}'`,
      );
    }
    return configKey(written, this.#project);
  }

  /** Sets a key; undefined removes it. */
  set(key: string, value: ConfigValue | undefined): void {
    const config = this.#document.get("config");
    const written = isMap(config)
      ? config.items.map((item) => String(item.key)).find((name) => configKey(name, this.#project) === key)
      : undefined;
    if (value !== undefined) {
      this.#document.setIn(["config", written ?? key], this.#document.createNode(toYaml(value)));
    } else if (written !== undefined) this.#document.deleteIn(["config", written]);
  }

  remove(): void {
    rmSync(this.file, { force: true });
  }

  async save(): Promise<void> {
    mkdirSync(path.dirname(this.file), { recursive: true });
    await writeDurably(this.file, [Buffer.from(this.#document.toString({ lineWidth: 0 }))]);
  }
}

function toYaml(value: ConfigValue): unknown {
  if (value instanceof Cipher) return { secure: value.text };
  if (Array.isArray(value)) return value.map(toYaml);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, element]) => [name, toYaml(element)]));
  }
  const scalar = new Scalar(String(value));
  // Pulumi would read such a text as a date, a number or a truth value when it has no quotes.
  if (typeof value === "string" && /^([-+.~]|\d|(|<<|=|y|yes|n|no|on|off|true|false|null)$)/i.test(value)) {
    scalar.type = "QUOTE_DOUBLE";
  }
  return scalar;
}
