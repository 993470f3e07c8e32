/** Why something is not done, in words for the operator. Nothing was changed by what throws it. */
export class BackupFault extends Error {}

export const damaged = (what: string) => new BackupFault(`The backup is damaged: ${what}.`);
