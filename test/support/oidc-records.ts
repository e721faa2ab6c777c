import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

/** The storage of a test issuer; the built-in memory storage warns at every start. Nothing expires. */
export function createIssuerRecords(): AdapterFactory {
  const records = new Map<string, AdapterPayload>();
  const findBy = async (model: string, field: 'uid' | 'userCode', value: string) =>
    [...records].find(([key, payload]) => key.startsWith(`${model}:`) && payload[field] === value)?.[1];
  return (model): Adapter => ({
    async upsert(id, payload) {
      records.set(`${model}:${id}`, payload);
    },
    find: async (id) => records.get(`${model}:${id}`),
    findByUid: (uid) => findBy(model, 'uid', uid),
    findByUserCode: (userCode) => findBy(model, 'userCode', userCode),
    async consume(id) {
      const payload = records.get(`${model}:${id}`);
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      records.delete(`${model}:${id}`);
    },
    async revokeByGrantId(grantId) {
      for (const [key, payload] of records) if (payload.grantId === grantId) records.delete(key);
    },
  });
}
