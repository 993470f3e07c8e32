/** Stock photos: the interface of every photo library. */
import type { Readable } from 'node:stream';

/** A photo as its library describes it. The URLs are the library's and appear only in our rows and credit files. */
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
  /** The name in our rows. */
  name: string;
  /** Searches per hour for the whole platform; absent if there is no limit. */
  searchesPerHour?: number;
  /** Descriptions of all its photos, where they are few. */
  all?: readonly string[];
  /** The best few matches. Throws PhotosFault. */
  search(query: string): Promise<LibraryPhoto[]>;
  /** The picture at a size for websites. Throws PhotosFault. */
  file(photo: Pick<LibraryPhoto, 'reference' | 'fileUrl'>): Promise<Readable>;
  /** A small version to choose by. Throws PhotosFault. */
  thumb(photo: Pick<LibraryPhoto, 'reference' | 'thumbUrl'>): Promise<Buffer>;
};

/** `busy`: rate limited. `later`: a retry may succeed. `refused`: a retry will not. `cause` has the original error. */
export class PhotosFault extends Error {
  readonly outcome: 'busy' | 'later' | 'refused';
  constructor(outcome: PhotosFault['outcome'], cause?: unknown) {
    super(`the photo library request failed: ${outcome}`, { cause });
    this.outcome = outcome;
  }
}
