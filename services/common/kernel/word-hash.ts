/** A step of the hash function FNV-1a, over the characters or bytes of a word; begin with 0. */
export const nextHash = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);

/** The first slot of a hash in a hash table of `size` slots, a power of two. */
export const slotOfHash = (hash: number, size: number): number => (hash ^ (hash >>> 15)) & (size - 1);
