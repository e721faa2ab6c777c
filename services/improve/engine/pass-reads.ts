/** What the stages of one pass read alike: once, until a stage has changed something. */
export interface PassReads {
  /** What `read` gives, or gave under that name before. What fails is read again. */
  once<Value>(name: string, read: () => Promise<Value>): Promise<Value>;
  forget(): void;
}

export function createPassReads(): PassReads {
  const known = new Map<string, Promise<unknown>>();
  return {
    async once<Value>(name: string, read: () => Promise<Value>) {
      const value = known.get(name) ?? read();
      known.set(name, value);
      try {
        return (await value) as Value;
      } catch (error) {
        known.delete(name);
        throw error;
      }
    },
    forget: () => known.clear(),
  };
}
