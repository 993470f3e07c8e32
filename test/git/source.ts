/** The calls on a site's source, as tests make them. */
import type { Platform } from './platform.ts';

export type Committed = { commit: string; repository: string; files_changed: number; subject: string; author: string };
export type Item = { path: string; kind: string; bytes: number };
export type Folder = { items: Item[]; next_cursor: string | null; commits: { source: string; content: string } };
export type File = {
  path: string;
  bytes: number;
  repository: string;
  commit: string;
  sha256: string;
  text?: string;
  base64?: string;
};

/** Calls on the source of one platform's sites. */
export function sourceOf(platform: () => Platform) {
  return {
    commit: (siteId: string, body: unknown, headers: Record<string, string> = {}) =>
      platform().call<Committed>('POST', `/v1/sites/${siteId}/commits`, body, headers),
    files: <Body = Folder>(siteId: string, query = '') =>
      platform().call<Body>('GET', `/v1/sites/${siteId}/files${query}`),
  };
}

export const write = (path: string, text: string) => ({ message: `Write ${path}`, changes: [{ path, text }] });
