import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/** A browser's picture (PNG of 8-bit RGB) with its 256 most frequent colors: a third of the size. */
export function withPalette(picture: Buffer): Buffer {
  const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)];
  const pixels = pixelsOf(picture, width, height);
  const counts = new Map<number, number>();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0)).slice(0, 256);
  const places = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  const rows = Buffer.alloc((width + 1) * height); // each begins with its filter: none
  pixels.forEach((color, i) => (rows[i + Math.floor(i / width) + 1] = places.get(color) ?? 0));
  const header = Buffer.from(picture.subarray(16, 29));
  header[9] = 3; // colors by palette
  const colors = Buffer.from(palette.flatMap(channels));
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const channels = (color: number): [number, number, number] => [color >> 16, (color >> 8) & 255, color & 255];

function nearest(palette: readonly number[], color: number): number {
  const [r, g, b] = channels(color);
  const distances = palette.map((other) => {
    const [x, y, z] = channels(other);
    return (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
  });
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Colors as numbers, row by row: each byte is stored as its difference to what its row's filter predicts. */
function pixelsOf(picture: Buffer, width: number, height: number): Uint32Array {
  const parts: Buffer[] = [];
  for (let at = signature.length; at < picture.length; at += picture.readUInt32BE(at) + 12) {
    const isData = picture.toString("latin1", at + 4, at + 8) === "IDAT";
    if (isData) parts.push(picture.subarray(at + 8, at + 8 + picture.readUInt32BE(at)));
  }
  const stored = inflateSync(Buffer.concat(parts));
  const stride = width * 3;
  const bytes = new Uint8Array(stride * height);
  for (let i = 0; i < bytes.length; i++) {
    const [row, column] = [Math.floor(i / stride), i % stride];
    const left = column < 3 ? 0 : (bytes[i - 3] ?? 0);
    const above = bytes[i - stride] ?? 0;
    const corner = column < 3 ? 0 : (bytes[i - stride - 3] ?? 0);
    const start = row * (stride + 1);
    bytes[i] = (stored[start + 1 + column] ?? 0) + predicted(stored[start] ?? 0, left, above, corner);
  }
  return Uint32Array.from({ length: width * height }, (_, i) => {
    const [r = 0, g = 0, b = 0] = bytes.subarray(i * 3);
    return (r << 16) | (g << 8) | b;
  });
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter < 4) return [0, left, above, (left + above) >> 1][filter] ?? 0;
  const sum = left + above - corner;
  return [left, above, corner].reduce(
    (best, each) => (Math.abs(sum - each) < Math.abs(sum - best) ? each : best),
    left,
  );
}
