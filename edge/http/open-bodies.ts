/**
 * Responses that hold memory or a file for as long as their client takes: streams of HTTP/2, and bodies that are read
 * while they are sent. Each kind is limited for each visitor's network, and in this process.
 */
import type { Readable } from 'node:stream';
import type { LargeBody } from '#edge/content/response.ts';
import { createShares, type Shares } from '#runtime/shares.ts';

/** At a time. They protect memory and descriptors, so `FRONTAGE_RATE_SCALE` does not change them. */
export const openLimits = {
  /** Each holds some kilobytes. A connection may have 100 of them. */
  streams: { each: 1_000, all: 20_000 },
  /** Each holds a file and 64 KiB or more. */
  bodies: { each: 100, all: 1_000 },
} as const;

export type OpenLimits = Record<keyof typeof openLimits, { each: number; all: number }>;

/** The visitor's network, or the process, has as many large bodies as it may. */
export class TooManyBodies extends Error {}

export type OpenBodies = {
  /**
   * Opens a body for a response, which `end` ends. Throws TooManyBodies. If all are taken, a response to the network
   * that has most of them may be ended.
   */
  open(network: string, body: LargeBody, end: () => void): Promise<Readable>;
};

export function createOpenBodies(limits: OpenLimits['bodies']): OpenBodies {
  const shares: Shares = createShares(limits);
  return {
    async open(network, body, end) {
      const release = shares.take(network, { canEnd: () => true, end });
      if (!release) throw new TooManyBodies('too many large files are being sent');
      try {
        return (await body.open()).once('close', release);
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}
