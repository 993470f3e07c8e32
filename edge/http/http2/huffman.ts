/** The Huffman code of header compression (RFC 7541 section 5.2 and appendix B). */

/** Bits of each symbol's code, of the 256 bytes and the end of the string. Codes of one length are in the order of their symbols. */
const codeBits = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];
const endOfString = 256;
/** A leaf of the tree is its symbol's complement, which is negative. */
const leafOf = (symbol: number) => ~symbol;

/** The tree of codes: two children for each inner node. The root is 0, which no node has as a child: it marks a free place. */
function createTree(): Int16Array {
  const children = new Int16Array(2 * endOfString);
  let nodes = 1;
  let code = 0;
  let bits = 0;
  const symbols = [...codeBits.keys()].sort((a, b) => of(a) - of(b) || a - b);
  for (const symbol of symbols) {
    code *= 2 ** (of(symbol) - bits);
    bits = of(symbol);
    let at = 0;
    for (let bit = bits - 1; bit > 0; bit--) {
      const place = 2 * at + ((code >> bit) & 1);
      if (children[place] === 0) children[place] = nodes++;
      at = children[place] as number;
    }
    children[2 * at + (code & 1)] = leafOf(symbol);
    code += 1;
  }
  return children;
}

const of = (symbol: number) => codeBits[symbol] as number;

/** The next node and the symbol (or -1) for each inner node and four bits. No code is shorter, so there is at most one symbol. */
function createSteps(children: Int16Array): { nodes: Int16Array; symbols: Int16Array } {
  const nodes = new Int16Array(16 * endOfString);
  const symbols = new Int16Array(16 * endOfString).fill(-1);
  for (let step = 0; step < nodes.length; step++) {
    let at = step >> 4;
    for (let bit = 3; bit >= 0; bit--) {
      const child = children[2 * at + ((step >> bit) & 1)] as number;
      at = Math.max(child, 0);
      if (child < 0) symbols[step] = leafOf(child);
    }
    nodes[step] = at;
  }
  return { nodes, symbols };
}

/** Nodes at which a string may end: padding is less than eight bits, all of them ones. */
function createEnds(children: Int16Array): Set<number> {
  const ends = new Set([0]);
  for (let at = 0, bits = 1; bits < 8; bits++) {
    at = children[2 * at + 1] as number;
    ends.add(at);
  }
  return ends;
}

const tree = createTree();
const steps = createSteps(tree);
const ends = createEnds(tree);

/** Decodes bytes of the block into Latin-1; undefined if they are invalid. `scratch` has room for eight fifths of them. */
export function decodeHuffman(block: Buffer, start: number, end: number, scratch: Buffer): string | undefined {
  let node = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = block[at] as number;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = 16 * node + ((byte >> shift) & 15);
      const symbol = steps.symbols[step] as number;
      if (symbol === endOfString) return undefined;
      if (symbol >= 0) scratch[length++] = symbol;
      node = steps.nodes[step] as number;
    }
  }
  return ends.has(node) ? scratch.toString('latin1', 0, length) : undefined;
}
