// The picture of what the reviewer sees, taken in the page: the document drawn into a canvas, and a ring where the comment stands.

const sideMax = 1400;
const bytesMax = 600_000;
const patienceMs = 20_000;
const nothing = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

/** Answers the bytes of a JPEG, or why there are none: `slow`, `large`, `failed`. Never rejects. */
export async function takePicture(position, isOurs) {
  const [left, top] = [scrollX, scrollY];
  const [width, height] = [innerWidth, innerHeight];
  try {
    return await Promise.race([draw(), new Promise((resolve) => setTimeout(resolve, patienceMs, { missing: 'slow' }))]);
  } catch {
    return { missing: 'failed' };
  }

  async function draw() {
    const { domToCanvas } = await import('./modern-screenshot.js');
    const scale = Math.min(1, sideMax / Math.max(width, height));
    const canvas = await domToCanvas(document.documentElement, {
      width,
      height,
      scale,
      timeout: patienceMs / 2,
      backgroundColor: background(),
      filter: (node) =>
        !isOurs(node) && !/^(script|noscript|iframe|object|embed|template|frontage-draft)$/.test(node.localName ?? ''),
      fetch: { requestInit: { credentials: 'omit' }, placeholderImage: nothing },
      style: { transform: `translate(${-left}px, ${-top}px)`, transformOrigin: '0 0', overflow: 'visible' },
    });
    ring(canvas, (position.x - left) * scale, (position.y - top) * scale);
    for (const quality of [0.85, 0.6, 0.35]) {
      const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
      if (!blob) return { missing: 'failed' };
      if (blob.size <= bytesMax) return { bytes: await blob.arrayBuffer() };
    }
    return { missing: 'large' };
  }
}

function background() {
  const seen = [document.body, document.documentElement].map((one) => getComputedStyle(one).backgroundColor);
  return seen.find((color) => color && color !== 'transparent' && !/, 0\)$/.test(color)) ?? '#fff';
}

function ring(canvas, x, y) {
  const pen = canvas.getContext('2d');
  for (const [color, line] of [
    ['#fff', 7],
    ['#a8412a', 4],
  ]) {
    pen.beginPath();
    pen.arc(x, y, 16, 0, 2 * Math.PI);
    pen.strokeStyle = color;
    pen.lineWidth = line;
    pen.stroke();
  }
}
