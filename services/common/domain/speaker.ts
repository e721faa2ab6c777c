/** Name of the owner of a dataset in its graph: who says `I` in a note without another author. */
export const OWNER_NAME = 'Me';
