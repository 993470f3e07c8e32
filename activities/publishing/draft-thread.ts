/** The entry of a thread that reads data for draft-reader.ts: whether it is a draft, or why it is unreadable. */
import { parentPort } from 'node:worker_threads';
import { type DraftData, type DraftMark, draftMarkOf } from '#providers/repositories/drafts.ts';

export type Verdict = { mark: DraftMark } | { fault: string };

parentPort?.on('message', (data: DraftData) => {
  let verdict: Verdict;
  try {
    verdict = { mark: draftMarkOf(data) };
  } catch (error) {
    verdict = { fault: (error as Error).message };
  }
  parentPort?.postMessage(verdict);
});
