import { nextHash, slotOfHash } from '../../common/kernel/word-hash.ts';

/**
 * Numbers words from 0 in the order in which they first come. A word that is part of a text is found by its characters, without
 * a string made of it, which a map would need; and as none of them is an object, the collector has nothing to look at.
 */
export class WordNumbers {
  /** Number + 1 of the word of each slot: a hash table with open addressing, at most half full. */
  private slots = new Int32Array(2048);
  private characters = new Uint16Array(8192);
  /** Where the characters of each word end. */
  private ends = new Int32Array(1024);
  size = 0;

  /** Returns the number of a word; -1 for an unknown one. */
  find(text: string, start = 0, end = text.length): number {
    return (this.slots[this.slotOf(text, start, end)] as number) - 1;
  }

  /** Returns the number of a word, which is a new one when it is unknown. */
  of(word: string): number {
    let slot = this.slotOf(word, 0, word.length);
    const known = this.slots[slot] as number;
    if (known !== 0) return known - 1;
    if (this.size === this.ends.length) {
      this.grow();
      slot = this.slotOf(word, 0, word.length);
    }
    const start = this.startOf(this.size);
    if (start + word.length > this.characters.length) {
      this.characters = copied(this.characters, new Uint16Array(2 * (start + word.length)));
    }
    for (let at = 0; at < word.length; at++) this.characters[start + at] = word.charCodeAt(at);
    this.ends[this.size] = start + word.length;
    this.size += 1;
    this.slots[slot] = this.size;
    return this.size - 1;
  }

  private startOf(number: number): number {
    return number === 0 ? 0 : (this.ends[number - 1] as number);
  }

  /** The slot of a word, or the free one where it belongs. */
  private slotOf(text: string, start: number, end: number): number {
    const { slots, characters, ends } = this;
    const length = end - start;
    let hash = 0;
    for (let at = start; at < end; at++) hash = nextHash(hash, text.charCodeAt(at));
    for (let slot = slotOfHash(hash, slots.length); ; slot = (slot + 1) & (slots.length - 1)) {
      const number = (slots[slot] as number) - 1;
      if (number < 0) return slot;
      const from = number === 0 ? 0 : (ends[number - 1] as number);
      if ((ends[number] as number) - from !== length) continue;
      let at = 0;
      while (at < length && characters[from + at] === text.charCodeAt(start + at)) at += 1;
      if (at === length) return slot;
    }
  }

  private grow(): void {
    this.ends = copied(this.ends, new Int32Array(2 * this.ends.length));
    this.slots = new Int32Array(2 * this.slots.length);
    for (let number = 0; number < this.size; number++) {
      let hash = 0;
      for (let at = this.startOf(number); at < (this.ends[number] as number); at++) {
        hash = nextHash(hash, this.characters[at] as number);
      }
      let slot = slotOfHash(hash, this.slots.length);
      while (this.slots[slot] !== 0) slot = (slot + 1) & (this.slots.length - 1);
      this.slots[slot] = number + 1;
    }
  }
}

function copied<Numbers extends Int32Array | Uint16Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
