import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { EngramError } from '../../../services/common/kernel/errors.ts';
import { openS3BlobStore } from '../../../services/common/storage/blobs/s3/blob-store.ts';
import { openNatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import { createNeo4jClient } from '../../../services/common/storage/graph/neo4j/neo4j-client.ts';
import { openNeo4jGraphStore } from '../../../services/common/storage/graph/neo4j/neo4j-graph-store.ts';
import { openElasticsearchIndexes } from '../../../services/common/storage/indexes/elasticsearch/elasticsearch-indexes.ts';
import { KEPT } from '../../conformance/bus.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { freshPrefix, removeIndexes } from '../elasticsearch/indexes.ts';
import { removeStreams } from '../nats/nats-world.ts';
import { openTestBucket } from '../s3/test-bucket.ts';

/** Opens the store as a process of the installation, and closes it. */
type Open = (installation: string) => Promise<void>;

async function isHeldByTheFirst(open: Open, setting: string): Promise<void> {
  const [one, other] = [randomUUID(), randomUUID()];
  await open(one);
  await open(one);
  const error = (await rejection(open(other))) as EngramError;
  expect(error).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
  expect(error.message).to.contain('belongs to another installation').and.contain(one).and.contain(other);
  expect(error.message).to.contain(`Set ${setting} `);
  await open(one);
}

describe('a name that another installation has on the same server is refused:', () => {
  withBackend('nats', ({ ENGRAM_TEST_NATS_URL: url }) => {
    it('the subject prefix of NATS', async () => {
      const prefix = `t${randomUUID().slice(0, 8)}`;
      const open = async (installation: string) =>
        (await openNatsBus({ url, prefix, kept: KEPT, installation })).drain();
      try {
        // As a release left it that did not tell installations apart.
        await (await openNatsBus({ url, prefix, kept: KEPT })).drain();
        await isHeldByTheFirst(open, 'ENGRAM_NATS_SUBJECT_PREFIX');
      } finally {
        await removeStreams(url, prefix);
      }
    });
  });

  withBackend('elasticsearch', ({ ENGRAM_TEST_ELASTICSEARCH_URL: url }) => {
    it('the index prefix of Elasticsearch', async () => {
      const indexPrefix = freshPrefix();
      const open = async (installation: string) =>
        (await openElasticsearchIndexes({ url, indexPrefix, replicas: 0, installation })).close();
      try {
        await isHeldByTheFirst(open, 'ENGRAM_ELASTICSEARCH_INDEX_PREFIX');
      } finally {
        await removeIndexes(url, indexPrefix);
      }
    });
  });

  withBackend('neo4j', (address) => {
    it('the namespace of Neo4j', async () => {
      const connection = {
        url: address.ENGRAM_TEST_NEO4J_URL,
        user: address.ENGRAM_TEST_NEO4J_USER,
        password: address.ENGRAM_TEST_NEO4J_PASSWORD,
      };
      const namespace = `t_${randomUUID().slice(0, 8)}`;
      const open = async (installation: string) =>
        (await openNeo4jGraphStore({ ...connection, namespace, installation })).close();
      try {
        await isHeldByTheFirst(open, 'ENGRAM_NEO4J_NAMESPACE');
      } finally {
        const client = createNeo4jClient(connection);
        await client.write((run) =>
          run('MATCH (n:EngramInstallation {namespace: $namespace}) DELETE n', { namespace }),
        );
        await client.close();
      }
    });
  });

  withBackend('s3', (address) => {
    it('the bucket of S3, where another folder of it is free', async () => {
      const bucket = await openTestBucket(address);
      const openIn = (prefix: string) => async (installation: string) =>
        (await openS3BlobStore({ ...bucket.options, prefix, installation })).close();
      try {
        await isHeldByTheFirst(openIn(''), 'ENGRAM_S3_PREFIX');
        await isHeldByTheFirst(openIn('other/'), 'ENGRAM_S3_PREFIX');
      } finally {
        await bucket.dispose();
      }
    });
  });
});
