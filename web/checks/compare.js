// Where the two pictures of this page differ, and both beside each other with the differences outlined. `compare()` returns
// { regions, picture: { base64, width, height } }. What only moved, because of something above it, is no difference.

/** `plain`: the numbers of rows of one colour. @typedef {{ image: HTMLImageElement, width: number, pixels: Uint32Array, hashes: number[], plain: Set<number> }} Rows */
/** Rows from `a` to `endA` of the earlier picture, which `b` to `endB` replace. @typedef {{ a: number, endA: number, b: number, endB: number }} Block */
/** @typedef {{ x: number, y: number, width: number, height: number }} Area */
/** `a` to `endA`: the rows of the earlier picture. @typedef {{ a: number, endA: number, area: Area }} Region */

const joinedWithin = 24;
const regionsMax = 20;
const margin = 48;
const shownHeightMax = 3_000;
const shownWidthMax = 640;
const gap = 16;

// biome-ignore lint/correctness/noUnusedVariables: activities/rendering/comparison.ts calls it
async function compare() {
  const images = [...document.images];
  await Promise.all(images.map((one) => one.decode()));
  const width = Math.max(...images.map(({ naturalWidth }) => naturalWidth));
  const [before, after] = images.map((image) => rowsOf(image, width));
  if (!before || !after) throw new Error('two pictures are needed');
  const blocks = blocksOf(...withoutEnds(before.hashes, after.hashes)).filter((one) => !isSpace(one, before, after));
  const regions = regionsOf(blocks.map((block) => ({ ...block, ...edgesOf(block, before, after) })));
  const shown = regions.slice(0, regionsMax).map(({ area }) => area);
  return { regions: shown, picture: await sideBySide(regions, before, after) };
}

/** The pixels of a picture, and a number for each of its rows: equal rows have the same. @param {HTMLImageElement} image @param {number} width @returns {Rows} */
function rowsOf(image, width) {
  const height = image.naturalHeight;
  const context = contextOf(new OffscreenCanvas(width, height), true);
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  /** @type {Set<number>} */
  const plain = new Set();
  const hashes = Array.from({ length: height }, (_, y) => {
    let [low, high] = [0x811c9dc5, 0x9e3779b9];
    let isPlain = true;
    for (let at = y * width; at < (y + 1) * width; at++) {
      const pixel = /** @type {number} */ (pixels[at]);
      low = Math.imul(low ^ pixel, 0x01000193);
      high = Math.imul(high + pixel, 0x85ebca6b) ^ (high >>> 15);
      isPlain &&= pixel === pixels[y * width];
    }
    if (isPlain) plain.add(y);
    return (low >>> 0) * 2 ** 21 + (high >>> 11);
  });
  return { image, width, pixels, hashes, plain };
}

/** @param {OffscreenCanvas} canvas @param {boolean} willReadFrequently */
function contextOf(canvas, willReadFrequently) {
  const context = canvas.getContext('2d', { willReadFrequently });
  if (!context) throw new Error('no canvas');
  return context;
}

/** Whether only the space between two things, of its own colour, has grown or shrunk: what is below it has moved. @param {Block} block @param {Rows} before @param {Rows} after */
function isSpace({ a, endA, b, endB }, before, after) {
  if (endA > a && endB > b) return false;
  const { plain, hashes } = endA > a ? before : after;
  const [from, to] = endA > a ? [a, endA] : [b, endB];
  const row = hashes[from];
  const isAlike = hashes.slice(from, to).every((one) => one === row);
  return plain.has(from) && isAlike && (hashes[from - 1] === row || hashes[to] === row);
}

/** Without the empty rows at the end of a page that is shorter than the window. @param {number[]} old @param {number[]} now @returns {[number[], number[]]} */
function withoutEnds(old, now) {
  const empty = old.at(-1);
  if (empty !== now.at(-1)) return [old, now];
  /** @param {number[]} rows */
  const cut = (rows) => rows.slice(0, 1 + rows.findLastIndex((row) => row !== empty));
  return [cut(old), cut(now)];
}

/**
 * Blocks of rows that differ, as a patience diff finds them: rows that occur once in both pictures are the anchors.
 * @param {number[]} old @param {number[]} now
 */
function blocksOf(old, now) {
  /** @type {Block[]} */
  const blocks = [];
  let [a, b] = [0, 0];
  for (const { a: nextA, b: nextB } of [...anchorsOf(old, now), { a: old.length, b: now.length }]) {
    while (a < nextA && b < nextB && old[a] === now[b]) [a, b] = [a + 1, b + 1];
    let [endA, endB] = [nextA, nextB];
    while (endA > a && endB > b && old[endA - 1] === now[endB - 1]) [endA, endB] = [endA - 1, endB - 1];
    if (endA > a || endB > b) blocks.push({ a, endA, b, endB });
    [a, b] = [nextA + 1, nextB + 1];
  }
  return blocks;
}

/** Pairs of the same row, increasing in both pictures: the longest such sequence. @param {number[]} old @param {number[]} now */
function anchorsOf(old, now) {
  const [onceOld, onceNow] = [onceIn(old), onceIn(now)];
  /** @typedef {{ a: number, b: number, before: Pair | undefined }} Pair */
  /** The last pair of the best sequence of each length. @type {Pair[]} */
  const ends = [];
  for (const [hash, a] of onceOld) {
    const b = onceNow.get(hash);
    if (b === undefined) continue;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (/** @type {Pair} */ (ends[middle]).b < b) low = middle + 1;
      else high = middle;
    }
    ends[low] = { a, b, before: ends[low - 1] };
  }
  const anchors = [];
  for (let pair = ends.at(-1); pair; pair = pair.before) anchors.push(pair);
  return anchors.reverse();
}

/** The rows that occur once, in their order. @param {number[]} hashes */
function onceIn(hashes) {
  /** @type {Map<number, number>} */
  const places = new Map();
  const again = new Set();
  for (const [y, hash] of hashes.entries()) {
    if (places.has(hash)) again.add(hash);
    places.set(hash, y);
  }
  for (const hash of again) places.delete(hash);
  return places;
}

/** The columns that differ; all of them where rows were added or removed. @param {Block} block @param {Rows} before @param {Rows} after */
function edgesOf({ a, endA, b, endB }, before, after) {
  const { width } = after;
  if (endA - a !== endB - b) return { left: 0, right: width };
  let [left, right] = [width, 0];
  for (let y = 0; y < endA - a; y++) {
    for (let x = 0; x < width; x++) {
      if (before.pixels[(a + y) * width + x] === after.pixels[(b + y) * width + x]) continue;
      if (x < left) left = x;
      if (x >= right) right = x + 1;
    }
  }
  return { left, right };
}

/** Neighbouring blocks are one region. @param {(Block & { left: number, right: number })[]} blocks */
function regionsOf(blocks) {
  /** @type {Region[]} */
  const found = [];
  for (const { a, endA, b, endB, left, right } of blocks) {
    const last = found.at(-1);
    if (!last || b - (last.area.y + last.area.height) > joinedWithin) {
      found.push({ a, endA, area: { x: left, y: b, width: right - left, height: endB - b } });
      continue;
    }
    const { area } = last;
    const x = Math.min(area.x, left);
    last.area = { x, y: area.y, width: Math.max(area.x + area.width, right) - x, height: endB - area.y };
    last.endA = endA;
  }
  return found;
}

/** From the first region to the last: the earlier picture on the left, the newer one on the right. @param {Region[]} regions @param {Rows} before @param {Rows} after */
async function sideBySide(regions, before, after) {
  const [first, last] = [regions[0], regions.at(-1)];
  if (!first || !last) return null;
  const { width } = after;
  const scale = Math.min(1, shownWidthMax / width);
  const wide = Math.round(width * scale);
  const parts = [
    part(before.image, first.a, last.endA),
    part(after.image, first.area.y, last.area.y + last.area.height),
  ];
  const high = Math.ceil(Math.max(...parts.map(({ height }) => height)) * scale);
  const canvas = new OffscreenCanvas(2 * wide + gap, Math.max(1, high));
  const context = contextOf(canvas, false);
  context.fillStyle = '#888';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = '#d0006f';
  context.lineWidth = 2;
  for (const [at, { image, top, height }] of parts.entries()) {
    const left = at * (wide + gap);
    context.drawImage(image, 0, top, width, height, left, 0, wide, height * scale);
    for (const { a, endA, area } of regions) {
      const [y, end] = at === 0 ? [a, endA] : [area.y, area.y + area.height];
      const tall = Math.max(1, (end - y) * scale);
      context.strokeRect(left + area.x * scale + 1, (y - top) * scale, area.width * scale - 2, tall);
    }
  }
  const base64 = await base64Of(await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 }));
  return { base64, width: canvas.width, height: canvas.height };
}

/** These rows of a picture, and some around them. @param {HTMLImageElement} image @param {number} from @param {number} to */
function part(image, from, to) {
  const top = Math.max(0, from - margin);
  return { image, top, height: Math.min(shownHeightMax, Math.min(image.naturalHeight, to + margin) - top) };
}

/** @param {Blob} blob */
async function base64Of(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  for (let from = 0; from < bytes.length; from += 8_192)
    binary += String.fromCharCode(...bytes.subarray(from, from + 8_192));
  return btoa(binary);
}
