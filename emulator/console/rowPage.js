import { filterText, readFilter, writeFilter } from "./conditions.js";
import { notify } from "./notices.js";
import { ask } from "./service.js";

/** Rows of one page. */
export const perPage = 50;

const whole = (words) => (/^\d{1,9}$/.test(words ?? "") ? Number(words) : 0);

/** The page of a table's rows that an address names: filter, order and place. */
export class RowPage {
  rows = [];
  total = 0;
  more = false;
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

  async load() {
    if (!this.#findTable()) return;
    Object.assign(this, await ask("rows", { query: { ...this.query, skip: this.skip, limit: perPage } }));
    if (this.rows.length > 0 || this.skip === 0 || this.total === null) return;
    this.skip = Math.max(0, Math.ceil(this.total / perPage) - 1) * perPage; // what was there is deleted
    await this.load();
  }

  /** Goes to another page, filter or order, as a step that the browser goes back from. */
  async change(changes) {
    Object.assign(this, changes);
    this.#remember();
    try {
      await this.load();
      notify("");
    } catch (error) {
      notify(error.message, "bad");
    }
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
