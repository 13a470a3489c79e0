import { fits, timeOf, type FieldType } from "../../provider/contract/fields.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { invalid } from "../data/platformError.ts";
import type { TableField } from "../data/tables.ts";

/** Messages for values that a field does not take. The refusals are assumed. */
const refusals: Record<FieldType, string> = {
  text: "a text",
  number: "a number",
  date: "a date in ISO 8601 form",
  checkbox: "a list of texts",
  location: "a location with an address",
  linked: "an object with crossAppRowID",
  subtable: "a sub-table",
  file: "a file",
  viewers: "a list of texts",
  teamViewers: "a list of texts",
};

/** Throws unless the field takes the value; null, which clears, is always taken. */
export function validateValue(field: TableField, value: unknown, where: string): void {
  if (!fits(field.type, value)) throw invalid(`${where}${field.label} must be ${refusals[field.type]}`);
  const problem = field.type === "location" ? findLocationProblem(value) : undefined;
  if (problem !== undefined) throw invalid(`${where}${field.label}: ${problem}`);
}

/** Members of an address that are texts. */
const addressTexts = (
  "country formattedAddress addressLastLine addressNumber areaName1 areaName2 areaName3 areaName4 mainAddressLine " +
  "placeName postCode postCodeExt streetName unitType unitValue"
).split(" ");

/** Returns a sentence on a location that no platform could mean; the range of coordinates is assumed. */
function findLocationProblem(value: unknown): string | undefined {
  const address = isObject(value) ? value["address"] : undefined;
  if (!isObject(address)) return undefined;
  const wrong = addressTexts.find((name) => address[name] !== undefined && typeof address[name] !== "string");
  if (wrong !== undefined) return `${wrong} must be a text`;
  const coordinates = isObject(address["geometry"]) ? address["geometry"]["coordinates"] : undefined;
  const [longitude, latitude] = Array.isArray(coordinates) ? (coordinates as number[]) : [0, 0]; // the schema has two
  if (Math.abs(longitude ?? 0) <= 180 && Math.abs(latitude ?? 0) <= 90) return undefined;
  return "coordinates must be a longitude of -180 to 180 and a latitude of -90 to 90";
}

/** Value in a sort column. */
export type SortValue = string | number | null;

/**
 * The value that a field is sorted by (assumed): text and number as they are, a date as its time, a checkbox as whether
 * anything is checked, a location as its address.
 */
export function sortValue(field: TableField, value: unknown): SortValue {
  switch (field.type) {
    case "checkbox":
      return Array.isArray(value) && value.length > 0 ? 1 : 0;
    case "date":
      return timeOf(value) ?? null;
    case "location": {
      const address = isObject(value) ? value["address"] : undefined;
      const text = isObject(address) ? address["formattedAddress"] : undefined;
      return typeof text === "string" ? text : null;
    }
    case "linked": {
      const shown = isObject(value) ? value["value"] : undefined;
      const text = isObject(shown) ? shown["value"] : undefined;
      return typeof text === "string" || typeof text === "number" ? text : null;
    }
    default:
      return typeof value === "string" || typeof value === "number" ? value : null;
  }
}
