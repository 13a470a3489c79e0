import { filterText, readFilter, writeFilter } from "./conditions.js";
import { act, notify } from "./notices.js";
import { ask } from "./service.js";

/** Rows of one page. */
export const perPage = 50;

const whole = (words) => (/^\d{1,9}$/.test(words ?? "") ? Number(words) : 0);

/** The page of a table's rows that an address names: filter, order and place. */
export class RowPage {
  rows = [];
  counted = 0;
  more = false;
  /** Why there are no rows; undefined where they were read. */
  refusal;
  #loads = 0;
  #isFiltered = false;
  #place;
  #findTable;

  /** `findTable` gives the table, undefined once it is gone; `place` has the address's query, `keep` and `redraw`. */
  constructor(findTable, place) {
    const { query } = place;
    this.#findTable = findTable;
    this.#place = place;
    this.skip = whole(query.get("skip"));
    this.sort = query.get("sort") ?? "";
    this.direction = query.get("direction") === "-1" ? -1 : 1;
    this.filter = readFilter(query);
  }

  /** Filter and order, as the emulator is asked for rows. */
  get query() {
    const { id, fields } = this.#findTable();
    const order = this.sort === "" ? {} : { sort: this.sort, direction: this.direction };
    return { table: id, filter: filterText(this.filter, fields), ...order };
  }

  /** Rows on all pages; null while they are counted, and where that takes too long. */
  get total() {
    return this.counted ?? (this.#isFiltered ? null : (this.#findTable()?.rows ?? null));
  }

  /** Loads the rows; of a table that is not known yet once the model is there, whose promise `loading` is. */
  async load(loading) {
    const load = ++this.#loads;
    if (!this.#findTable()) await loading;
    if (!this.#findTable()) return;
    const query = { ...this.query, skip: this.skip, limit: perPage, total: false };
    const { rows, more, total } = await ask("rows", { query });
    if (load !== this.#loads) return; // another page was asked for since
    Object.assign(this, { rows, more, counted: total, refusal: undefined });
    this.#isFiltered = query.filter !== undefined;
    if (rows.length > 0 || this.skip === 0) {
      if (total === null && this.#isFiltered) void this.#countLater(load);
      return;
    }
    const left = total ?? (await this.#count());
    if (left === null) return;
    this.skip = Math.max(0, Math.ceil(left / perPage) - 1) * perPage; // what was there is deleted
    await this.load();
  }

  /** Loads the rows of an address, whose filter or order may be refused: the form shows it, to be changed. */
  async open(loading) {
    try {
      await this.load(loading);
    } catch (error) {
      if (!this.#findTable()) throw error;
      Object.assign(this, { rows: [], more: false, counted: 0, refusal: error.message });
    }
  }

  async #count() {
    return (await ask("rows", { query: { ...this.query, limit: 0 } })).total;
  }

  /** Counts what a filter finds while its first rows are shown: that may take long. */
  async #countLater(load) {
    try {
      const total = await this.#count();
      if (load !== this.#loads) return;
      this.counted = total;
    } catch (error) {
      notify(error.message, "bad");
    }
    this.#place.redraw();
  }

  /** Goes to another page, filter or order, as a step that the browser goes back from. */
  async change(changes) {
    Object.assign(this, changes);
    this.#remember();
    await act("", () => this.load());
    this.#place.redraw();
  }

  /** Changes the form of the filter, or applies it. */
  changeFilter(filter, apply) {
    if (apply) return void this.change({ skip: 0, filter });
    this.filter = filter;
    this.#place.redraw();
  }

  orderBy(label) {
    return this.change({ skip: 0, sort: label, direction: this.sort === label ? -this.direction : 1 });
  }

  /** The order of a column, as ARIA names it; undefined for columns that do not sort. */
  orderOf(label) {
    if (label !== this.sort) return undefined;
    return this.direction === 1 ? "ascending" : "descending";
  }

  #remember() {
    const query = new URLSearchParams();
    writeFilter(this.filter, query);
    if (this.sort !== "") query.set("sort", this.sort);
    if (this.sort !== "" && this.direction < 0) query.set("direction", "-1");
    if (this.skip > 0) query.set("skip", this.skip);
    this.#place.keep(query);
  }
}
