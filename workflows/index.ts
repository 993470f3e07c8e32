export * from './notifying.ts';
export * from './publishing.ts';
export * from './reconciling.ts';
