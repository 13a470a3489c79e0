import { expect } from "@jest/globals";
import type { RowData } from "../../platform/contract/values.ts";
import type { Scene } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

/** A seed as the state has it. */
export interface Made {
  id: string;
  inputs: Properties;
  outputs: Properties;
}

/** Where it takes place; what fails in part is told by a scene alone. */
type Place = Pick<Scene, "host" | "client" | "calls"> & Partial<Pick<Scene, "failure">>;

/**
 * One seed, from its first up to its destroy, with what an engine asks on the way and what others do to its table. After each
 * up nothing is left to do, and a refresh finds the table as it is declared.
 */
export class SeedStory {
  /** What the state has; what an engine knows of it is what the last step left. */
  made: Made | undefined;
  readonly #scene: Place;
  readonly #shared: Properties;
  readonly #name: string;

  /** @param shared inputs of all steps */
  constructor(scene: Place, shared: Properties, name = "it") {
    this.#scene = scene;
    this.#shared = shared;
    this.#name = name;
  }

  get #host() {
    return this.#scene.host.as(this.#name);
  }

  get state(): Made {
    if (!this.made) throw new Error("the seed is not there yet");
    return this.made;
  }

  /** The rows of the table, sorted by it: the values under these labels that are texts. */
  async live(...labels: string[]): Promise<string[]> {
    const rows = await this.rows();
    const shown = labels.length > 0 ? labels : ["Code"];
    return rows.map((row) => shown.flatMap((label) => (typeof row[label] === "string" ? row[label] : [])).join(" "));
  }

  async rows() {
    const microAppID = String(this.#shared["table"]);
    return (await this.#scene.client.microappdata({ microAppID, optViewSort: { sortVal: 1 } })).microAppRows;
  }

  async ids(): Promise<string[]> {
    return (await this.rows()).map(({ _id }) => _id);
  }

  check(news: Properties) {
    return this.#host.check("SeedRows", { ...this.#shared, ...news }, this.made?.inputs);
  }

  /** The problems with inputs. */
  async problems(news: Properties): Promise<string[]> {
    return (await this.check(news)).problems;
  }

  /** Messages of the preview, and if there is anything to do. */
  async preview(news: Properties): Promise<{ inputs: Properties; changes: boolean; told: string[] }> {
    const { told } = this.#host;
    told.length = 0;
    const { inputs, problems } = await this.check(news);
    expect(problems).toEqual([]);
    const { changes } = this.made
      ? await this.#host.diff("SeedRows", this.made.id, this.made.outputs, inputs)
      : { changes: true };
    return { inputs, changes, told: told.map((text) => text.replace(/^info: /, "")) };
  }

  /** Brings inputs up; returns what the run said. */
  async up(news: Properties, settles = true): Promise<string> {
    const { inputs } = await this.preview(news);
    this.#host.told.length = 0;
    const { made } = this;
    this.made = made
      ? { ...made, inputs, outputs: await this.#host.update("SeedRows", made.id, made.outputs, inputs) }
      : { inputs, ...(await this.#host.create("SeedRows", inputs)) };
    const told = this.#host.told.join("\n");
    if (settles) await this.isSettled(news);
    return told;
  }

  async isSettled(news: Properties): Promise<void> {
    expect(await this.preview(news)).toMatchObject({ changes: false, told: [] });
    const { outputs } = await this.#host.read("SeedRows", this.state.id, this.state.outputs);
    expect(outputs).not.toHaveProperty("drift");
    expect(outputs).not.toHaveProperty("unmet");
  }

  /** An up that ends with a refusal, and sends nothing that changes anything. */
  async refused(news: Properties, message: string | RegExp): Promise<void> {
    const before = await this.rows();
    const up = async () => {
      const { inputs } = await this.check(news);
      if (this.made) await this.#host.diff("SeedRows", this.made.id, this.made.outputs, inputs);
      return this.made
        ? this.#host.update("SeedRows", this.made.id, this.made.outputs, inputs)
        : this.#host.create("SeedRows", inputs);
    };
    expect(await this.#scene.calls(() => expect(up()).rejects.toThrow(message))).toEqual([]);
    expect(await this.rows()).toEqual(before);
  }

  /** An up that fails in part; returns what it said. */
  async fails(news: Properties): Promise<string> {
    const { inputs } = await this.preview(news);
    const { made } = this;
    const work = made
      ? this.#host.update("SeedRows", made.id, made.outputs, inputs)
      : this.#host.create("SeedRows", inputs);
    const failed = await this.#scene.failure?.(work);
    if (!failed) throw new Error("this place has no failures");
    const { message, id, state } = failed;
    // An engine keeps the last inputs of what failed in part.
    this.made = { id, inputs: made?.inputs ?? inputs, outputs: state };
    return message;
  }

  /** Reads it as a refresh does, in a run of its own; returns what is new in the state. */
  async refresh(): Promise<Properties> {
    await this.#scene.host.restart(); // a run reads a table once
    const { outputs } = await this.#host.read("SeedRows", this.state.id, this.state.outputs);
    this.made = { ...this.state, outputs };
    return outputs;
  }

  /** Somebody else inserts rows. */
  async theirs(rows: RowData[], email = "ada@example.com", microAppID = String(this.#shared["table"])): Promise<void> {
    const { userID } = await this.#scene.client.userid({ email });
    for (let at = 0; at < rows.length; at += 10_000)
      await this.#scene.client.insertmicroapprows({ microAppID, rows: rows.slice(at, at + 10_000), userID });
  }

  /** Somebody changes a row by hand, or removes it. */
  async byHand(code: string, rowData?: RowData): Promise<void> {
    const rowID = (await this.rows()).find((row) => row["Code"] === code)?._id ?? "";
    await (rowData
      ? this.#scene.client.updatemicroapprow({ rowID, rowData })
      : this.#scene.client.removemicroapprow({ rowID }));
  }

  /** Destroys it as an engine does, in a separate run; returns what that said. */
  async destroy(): Promise<string> {
    await this.#scene.host.restart();
    this.#host.told.length = 0;
    await this.#host.delete("SeedRows", this.state.id, this.state.outputs);
    this.made = undefined;
    return this.#host.told.join("\n");
  }
}
