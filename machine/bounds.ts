/** How deep and how large a text may be before it is composed into values. */
export interface Bounds {
  levels: number;
  values: number;
}

/** Bounds of a state; a backend may be anybody's folder. */
export const ofStates: Bounds = { levels: 200, values: Infinity };

/** A text beyond its bounds; nothing was made of it. */
export class BoundError extends Error {
  override readonly name = "BoundError";
  /** Characters before the place where it went beyond. */
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export const tooDeep = ({ levels }: Bounds): string => `has more than ${levels} levels; make it flatter`;
export const tooMany = ({ values }: Bounds): string => `has more than ${values} values; keep rows in files`;

/** Throws a BoundError where a JSON text is deeper or larger than its bounds; what is no JSON is left to the parser. */
export function checkJsonBounds(text: string, bounds: Bounds): void {
  let [level, values] = [0, 1];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // a text, to its closing quotation mark
        for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) if (text.charCodeAt(at) === 0x5c) at++;
        break;
      case 0x5b:
      case 0x7b:
        values++;
        if (++level > bounds.levels) throw new BoundError(tooDeep(bounds), at);
        break;
      case 0x5d:
      case 0x7d:
        level--;
        break;
      case 0x2c:
        if (++values > bounds.values) throw new BoundError(tooMany(bounds), at);
    }
  }
}
