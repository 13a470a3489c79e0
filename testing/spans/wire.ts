/** Fields of a message of protocol buffers, by number: integers, and the bytes of all others. */
export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Reads a message from its bytes alone, without its schema. */
export function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    const value = kind === 0 ? varint() : bytes(kind === 2 ? Number(varint()) : kind === 1 ? 8 : 4);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

/** The messages, texts or bytes of a field. */
export const bytesIn = (fields: Fields | undefined, field: number): Buffer[] =>
  (fields?.get(field) ?? []).filter((value) => Buffer.isBuffer(value));

export const messagesIn = (fields: Fields | undefined, field: number): Fields[] => bytesIn(fields, field).map(fieldsOf);

export const textIn = (fields: Fields | undefined, field: number): string =>
  bytesIn(fields, field)[0]?.toString() ?? "";
