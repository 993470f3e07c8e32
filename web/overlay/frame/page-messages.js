/** Messages from the page around the frame. Any script of the page can send them, so every value is validated. */

/**
 * @typedef {{ width: number, height: number }} Size
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ selector: string | null, quote: string | null, x: number | null, y: number | null, within: Point | null, viewport: Size | null }} Position
 */

/** @param {any} value */
export function positionOf(value) {
  const { selector, quote, x, y, within, viewport } = Object(value);
  const [left, top] = [number(within?.x, 0, 1), number(within?.y, 0, 1)];
  const [width, height] = [number(viewport?.width, 1, 100000), number(viewport?.height, 1, 100000)];
  /** @type {Position} */
  const position = {
    selector: text(selector, 1000),
    quote: text(quote, 300),
    x: number(x, -1e6, 1e6),
    y: number(y, -1e6, 1e6),
    within: left === null || top === null ? null : { x: left, y: top },
    viewport: width === null || height === null ? null : { width: Math.round(width), height: Math.round(height) },
  };
  return position;
}

/**
 * @param {unknown} value
 * @param {number} max
 */
function text(value, max) {
  return typeof value === 'string' && value ? value.slice(0, max).toWellFormed() : null;
}

/**
 * @param {any} value
 * @param {number} from
 * @param {number} to
 */
function number(value, from, to) {
  return Number.isFinite(value) ? Math.min(to, Math.max(from, value)) : null;
}

/**
 * The screenshot, or why there is none.
 * @param {{ bytes?: unknown, missing?: unknown }} message
 * @returns {{ picture: ArrayBuffer, missing: null } | { picture: null, missing: Missing }}
 */
export function pictureOf({ bytes, missing }) {
  if (bytes instanceof ArrayBuffer && isJpeg(bytes)) return { picture: bytes, missing: null };
  return { picture: null, missing: missing === 'slow' || missing === 'large' ? missing : 'failed' };
}

/** @typedef {'slow' | 'large' | 'failed'} Missing */

/** @param {ArrayBuffer} bytes */
function isJpeg(bytes) {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  return bytes.byteLength <= 700_000 && first === 0xff && second === 0xd8;
}

/**
 * How each pin was placed, by its number.
 * @param {unknown[]} places
 */
export function placementsOf(places) {
  /** @type {Record<string, string>} */
  const placements = {};
  for (const { n, how } of /** @type {any[]} */ (places.slice(0, 1000))) placements[String(n)] = String(how);
  return placements;
}
