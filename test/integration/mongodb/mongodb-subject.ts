import { randomUUID } from 'node:crypto';
import {
  connectMongodb,
  type MongodbConnection,
} from '../../../services/common/storage/documents/mongodb/connection.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import type { DocumentStoreSubject, SharedDocuments } from '../../support/document-stores.ts';

/** A fresh database on the server of the suite, removed at the end. */
export interface MongodbSubject {
  readonly connection: MongodbConnection;
  readonly database: string;
  dispose(): Promise<void>;
}

export async function openDatabase(url: string): Promise<MongodbSubject> {
  const database = `engram_test_${randomUUID().slice(0, 8)}`;
  const connection = await connectMongodb({ url, database });
  return {
    connection,
    database,
    async dispose() {
      await connection.client.db(database).dropDatabase();
      await connection.close();
    },
  };
}

export async function openMongodbStore(url: string): Promise<DocumentStoreSubject> {
  const { connection, dispose } = await openDatabase(url);
  return { store: createMongodbDocumentStore(connection), dispose };
}

export async function openMongodbTwice(url: string): Promise<SharedDocuments> {
  const { connection, dispose } = await openDatabase(url);
  return { stores: [createMongodbDocumentStore(connection), createMongodbDocumentStore(connection)], dispose };
}
