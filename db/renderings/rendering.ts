import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Deployment } from '#db/deployments/deployment.ts';
import { Site } from '#db/sites/site.ts';
import type { Finding } from '#rules/findings.ts';
import type { Screenshot } from '#rules/looks.ts';
import type { ErrorBody } from '#runtime/errors.ts';

export type RenderingStatus = 'queued' | 'running' | 'done' | 'failed';
/** What is to be drawn: one picture, or pages to check (`null`: those that changed since the version before). */
export type Work = { screenshot: Screenshot } | { paths: string[] | null };
/** What a check found, worst first, and which pages it read. */
export type Checked = { findings: Finding[]; pages: string[]; pagesLeft: number };

/** A screenshot of a page of a version, or a check of pages of it. Its pictures are in the store. */
export const Rendering = defineEntity({
  name: 'Rendering',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<'screenshot' | 'checks'>(),
    site: () => p.manyToOne(Site),
    deployment: () => p.manyToOne(Deployment),
    /** The same for every call that asks for the same. */
    form: p.text(),
    work: p.json().$type<Work>(),
    status: p.text().$type<RenderingStatus>(),
    result: p.json().$type<Checked>().nullable(),
    error: p.json().$type<ErrorBody>().nullable(),
    /** Whether a call asked for it. */
    asked: p.boolean(),
    createdAt: p.datetime(),
    finishedAt: p.datetime().nullable(),
    pictures: () => p.oneToMany(RenderingPicture).mappedBy('rendering').orderBy({ position: 'asc' }),
  },
});
export type Rendering = InferEntity<typeof Rendering>;

/** A picture of a rendering: the screenshot at position 0, or the part of a page that a finding is about. */
export const RenderingPicture = defineEntity({
  name: 'RenderingPicture',
  properties: {
    rendering: () => p.manyToOne(Rendering).primary(),
    position: p.integer().primary(),
    site: () => p.manyToOne(Site),
    sha256: p.text(),
  },
});
export type RenderingPicture = InferEntity<typeof RenderingPicture>;
