/** A vector as text for documents: base64 of little-endian floats; '' for none. */
export function vectorText(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

export function vectorOfText(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}

/** Returns the vector scaled to length 1; a zero vector stays as it is. */
export function unitVector(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dotProduct(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** 0 for vectors of different dimensions, which have nothing in common. */
export function dotProduct(left: Float32Array, right: Float32Array): number {
  if (left.length !== right.length) return 0;
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}

/** −1 to 1. */
export function cosine(left: Float32Array, right: Float32Array): number {
  const lengths = Math.sqrt(dotProduct(left, left) * dotProduct(right, right));
  return lengths === 0 ? 0 : dotProduct(left, right) / lengths;
}

/** The mean of vectors of one dimension; empty for none. */
export function meanVector(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) {
    for (let index = 0; index < mean.length; index++) {
      mean[index] = (mean[index] ?? 0) + (vector[index] ?? 0) / vectors.length;
    }
  }
  return mean;
}
