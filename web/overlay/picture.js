/** A screenshot made in the page: the document drawn on a canvas, with a ring at the comment's place. */

const sideMax = 1400;
const bytesMax = 600_000;
const timeoutMs = 20_000;
const excluded = /^(script|noscript|iframe|object|embed|template|frontage-draft)$/;
const emptyPicture = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

/**
 * The bytes of a JPEG, or why there are none. Never rejects.
 * @param {{ x: number, y: number }} position
 * @param {import('./place.js').IsOurs} isOurs
 * @returns {Promise<{ bytes?: ArrayBuffer, missing?: 'slow' | 'large' | 'failed' }>}
 */
export async function takePicture(position, isOurs) {
  const [left, top] = [scrollX, scrollY];
  const [width, height] = [innerWidth, innerHeight];
  try {
    return await Promise.race([draw(), expiry(timeoutMs)]);
  } catch {
    return { missing: 'failed' };
  }

  /** @returns {Promise<{ bytes?: ArrayBuffer, missing?: 'large' | 'failed' }>} */
  async function draw() {
    const { domToCanvas } = await import('./modern-screenshot.js');
    const scale = Math.min(1, sideMax / Math.max(width, height));
    const canvas = await domToCanvas(document.documentElement, {
      width,
      height,
      scale,
      timeout: timeoutMs / 2,
      backgroundColor: background(),
      filter: (node) => !isOurs(node) && !(node instanceof Element && excluded.test(node.localName)),
      fetch: { requestInit: { credentials: 'omit' }, placeholderImage: emptyPicture },
      style: { transform: `translate(${-left}px, ${-top}px)`, transformOrigin: '0 0', overflow: 'visible' },
    });
    ring(canvas, (position.x - left) * scale, (position.y - top) * scale);
    for (const quality of [0.85, 0.6, 0.35]) {
      const blob = await jpegOf(canvas, quality);
      if (!blob) return { missing: 'failed' };
      if (blob.size <= bytesMax) return { bytes: await blob.arrayBuffer() };
    }
    return { missing: 'large' };
  }
}

/**
 * @param {number} ms
 * @returns {Promise<{ missing: 'slow' }>}
 */
const expiry = (ms) => new Promise((resolve) => setTimeout(resolve, ms, { missing: 'slow' }));

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} quality
 * @returns {Promise<Blob | null>}
 */
const jpegOf = (canvas, quality) => new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));

function background() {
  const seen = [document.body, document.documentElement].map((one) => getComputedStyle(one).backgroundColor);
  return seen.find((color) => color && color !== 'transparent' && !/, 0\)$/.test(color)) ?? '#fff';
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} x
 * @param {number} y
 */
function ring(canvas, x, y) {
  const pen = canvas.getContext('2d');
  if (!pen) return;
  for (const { color, line } of [
    { color: '#fff', line: 7 },
    { color: '#a8412a', line: 4 },
  ]) {
    pen.beginPath();
    pen.arc(x, y, 16, 0, 2 * Math.PI);
    pen.strokeStyle = color;
    pen.lineWidth = line;
    pen.stroke();
  }
}
