/** A refusal, with a message for the operator. Nothing has changed when it is thrown. */
export class BackupFault extends Error {}

export const damaged = (what: string) => new BackupFault(`The backup is damaged: ${what}.`);
