import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Deployment } from '#db/deployments/deployment.ts';
import { Site } from '#db/sites/site.ts';
import { Sketch } from '#db/sketches/sketch.ts';
import type { Finding } from '#rules/findings.ts';
import type { Compared, Screenshot } from '#rules/looks.ts';
import type { ErrorBody } from '#runtime/errors.ts';

export type RenderingStatus = 'queued' | 'running' | 'done' | 'failed';
export type RenderingKind = 'screenshot' | 'card' | 'comparison' | 'checks';
/**
 * What is to be drawn: a picture, that of a sketch's direction, the small one for a card, pages beside those of an earlier version, or pages to check.
 * Without paths: those that changed.
 */
export type Work =
  | { screenshot: Screenshot }
  | { screenshot: Screenshot; direction: number }
  | { card: true }
  | { comparison: { against: string; paths: string[] | null } }
  | { paths: string[] | null };
/** What a check found, worst first, and which pages it read. */
export type Checked = { findings: Finding[]; pages: string[]; pagesLeft: number };

/** What was drawn of pages of a version, or of a sketch. Its pictures are in the store. */
export const Rendering = defineEntity({
  name: 'Rendering',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<RenderingKind>(),
    site: () => p.manyToOne(Site).nullable(),
    deployment: () => p.manyToOne(Deployment).nullable(),
    /** In place of a version. */
    sketch: () => p.manyToOne(Sketch).nullable(),
    /** The same for every call that asks for the same. */
    form: p.text(),
    work: p.json().$type<Work>(),
    status: p.text().$type<RenderingStatus>(),
    result: p.json().$type<Checked | Compared>().nullable(),
    error: p.json().$type<ErrorBody>().nullable(),
    /** Whether a call asked for it. */
    asked: p.boolean(),
    /** Whether a call waits for it that no call asked for. */
    awaited: p.boolean().default(false),
    createdAt: p.datetime(),
    finishedAt: p.datetime().nullable(),
    pictures: () => p.oneToMany(RenderingPicture).mappedBy('rendering').orderBy({ position: 'asc' }),
  },
});
export type Rendering = InferEntity<typeof Rendering>;

/** A picture of a rendering: the screenshot at position 0, a part of a page that a finding is about, or two versions of a page. */
export const RenderingPicture = defineEntity({
  name: 'RenderingPicture',
  properties: {
    rendering: () => p.manyToOne(Rendering).primary(),
    position: p.integer().primary(),
    site: () => p.manyToOne(Site).nullable(),
    sha256: p.text(),
  },
});
export type RenderingPicture = InferEntity<typeof RenderingPicture>;
