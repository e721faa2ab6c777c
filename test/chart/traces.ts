import { MongoClient } from 'mongodb';
import neo4j from 'neo4j-driver';

/** Which stores have a word of what was added, under the names of an installation. */
export async function storesWith(
  word: string,
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const read = (name: string) => environment[name] ?? '';
  const found = await Promise.all([
    mongodbHas(word, read('ENGRAM_MONGODB_URL'), read('ENGRAM_MONGODB_DATABASE')),
    elasticsearchHas(word, read('ENGRAM_ELASTICSEARCH_URL'), read('ENGRAM_ELASTICSEARCH_INDEX_PREFIX')),
    neo4jHas(word, environment),
  ]);
  return ['mongodb', 'elasticsearch', 'neo4j'].filter((_, index) => found[index]);
}

/** In any field of any document, files included. */
async function mongodbHas(word: string, url: string, database: string): Promise<boolean> {
  const client = new MongoClient(url);
  try {
    const db = client.db(database);
    for (const { name } of await db.listCollections().toArray()) {
      for await (const document of db.collection(name).find()) if (hasWord(document, word)) return true;
    }
    return false;
  } finally {
    await client.close();
  }
}

function hasWord(value: unknown, word: string): boolean {
  if (typeof value === 'string') return value.includes(word);
  if (typeof value !== 'object' || value === null) return false;
  if ('buffer' in value && value.buffer instanceof Uint8Array) {
    return Buffer.from(value.buffer).toString('latin1').includes(word);
  }
  return Object.entries(value).some(([key, inner]) => key.includes(word) || hasWord(inner, word));
}

async function elasticsearchHas(word: string, url: string, prefix: string): Promise<boolean> {
  const { username, password, origin } = new URL(url);
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = {
    'content-type': 'application/json',
    ...(username === '' ? {} : { authorization: `Basic ${credentials}` }),
  };
  await fetch(`${origin}/${prefix}*/_refresh`, { method: 'POST', headers });
  const answer = await fetch(`${origin}/${prefix}*/_search?size=1000&allow_no_indices=true`, { headers });
  if (!answer.ok) throw new Error(`Elasticsearch: ${answer.status}`);
  return (await answer.text()).includes(word);
}

async function neo4jHas(word: string, environment: Readonly<Record<string, string>>): Promise<boolean> {
  const {
    ENGRAM_NEO4J_URL: url = '',
    ENGRAM_NEO4J_USER: user = '',
    ENGRAM_NEO4J_PASSWORD: password = '',
  } = environment;
  const driver = neo4j.driver(url, neo4j.auth.basic(user, password));
  try {
    const query =
      'MATCH (n) WHERE any(key IN keys(n) WHERE toStringOrNull(n[key]) CONTAINS $word) RETURN count(n) AS found';
    const { records } = await driver.executeQuery(query, { word });
    return Number(records[0]?.get('found') ?? 0) > 0;
  } finally {
    await driver.close();
  }
}
