/** A fault of the machine that its owner can mend: one line, with the remedy in it. Shown without a stack. */
export class Problem extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'Problem';
  }
}
