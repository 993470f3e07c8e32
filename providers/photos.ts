/** Stock photos: what a library has to do, whichever it is. */
import type { Readable } from 'node:stream';

/** A photo as its library knows it. The addresses are the library's and go no further than our rows and credit files. */
export type LibraryPhoto = {
  reference: string;
  description: string;
  width: number;
  height: number;
  creditName: string;
  creditUrl: string;
  pageUrl: string;
  fileUrl: string;
  thumbUrl: string;
};

export type PhotoLibrary = {
  /** A word for our rows. */
  name: string;
  /** How often in any hour it may be searched by the whole platform; absent where it does not mind. */
  searchesPerHour?: number;
  /** The best few for these words. Throws PhotosFault. */
  search(query: string): Promise<LibraryPhoto[]>;
  /** The picture at a size fit for a website. Throws PhotosFault. */
  file(photo: Pick<LibraryPhoto, 'reference' | 'fileUrl'>): Promise<Readable>;
  /** A small one, to choose by. Throws PhotosFault. */
  thumb(photo: Pick<LibraryPhoto, 'reference' | 'thumbUrl'>): Promise<Buffer>;
};

/** `busy`: it caps us. `later`: another try may find it mended. `refused`: none will. Its own words stay in `cause`. */
export class PhotosFault extends Error {
  readonly outcome: 'busy' | 'later' | 'refused';
  constructor(outcome: PhotosFault['outcome'], cause?: unknown) {
    super(`the photo library: ${outcome}`, { cause });
    this.outcome = outcome;
  }
}
