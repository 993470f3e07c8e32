export * from './publishing.ts';
export * from './reconciling.ts';
