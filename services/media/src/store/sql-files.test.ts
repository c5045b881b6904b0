import { fileURLToPath } from 'node:url';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnEngines } from '@reelgate/platform/testing/describe-on-engines';
import { FilePurpose, ListFilesRequestSchema, StoredFileSchema } from '@reelgate/proto/media/v1/file_service';
import type { FileReservation, MediaStore } from './media-store.ts';
import { sqlMediaStore } from './sql-media-store.ts';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));
const NOW = 1_800_000_000_000;
const DAY_MS = 24 * 3_600_000;
const BOUNDS = { filesMax: 3, bytesMax: 100 };
const aReservation = (id: string, over: Partial<FileReservation> = {}): FileReservation => ({
  id,
  accountId: 'demo',
  purpose: 'batch',
  bytes: 10,
  key: undefined,
  expiresAt: NOW + 60_000,
  ...over,
});
const described = { tokenId: 'token_1', filename: 'orders.jsonl', lifetimeMs: DAY_MS };

describeOnEngines(
  'files',
  (open) => {
    const opened = async (): Promise<{ sql: Sql; store: MediaStore }> => {
      const sql = open();
      await migrate(sql, migrations);
      return { sql, store: sqlMediaStore(sql) };
    };
    const receive = async (store: MediaStore, id: string, sha256: string, accountId = 'demo'): Promise<void> => {
      const blob = await store.pinBlob({ sha256, bytes: 7, key: `${sha256}-${id}` }, NOW);
      const claim = { taskId: '', purpose: 'private', reference: '', pin: `${sha256}-${id}` } as const;
      await store.addObject({ ...claim, id, accountId, blob, createdAt: NOW, expiresAt: NOW + 3_600_000 }, undefined);
    };
    const keep = async (store: MediaStore, id: string, over: Partial<FileReservation> = {}) => {
      await store.reserveFile(aReservation(id, over), NOW, undefined);
      await receive(store, id, 'aa', over.accountId);
      return store.commitFile(over.accountId ?? 'demo', id, described, NOW);
    };

    test('a reservation becomes a file with its bytes, once', async () => {
      const { store } = await opened();
      expect(await store.reserveFile(aReservation('file_1'), NOW, BOUNDS)).toMatchObject({ kind: 'reserved' });
      expect(await store.findFile('demo', 'file_1', NOW)).toBeUndefined();
      // its bytes have not arrived
      expect(await store.commitFile('demo', 'file_1', described, NOW)).toBeUndefined();
      await receive(store, 'file_1', 'aa');
      expect(await store.commitFile('other', 'file_1', described, NOW)).toBeUndefined();
      const file = await store.commitFile('demo', 'file_1', described, NOW);

      expect(file).toEqual(
        create(StoredFileSchema, {
          id: 'file_1',
          accountId: 'demo',
          purpose: FilePurpose.BATCH,
          bytes: 7n,
          createdAt: timestampFromMs(NOW),
          tokenId: 'token_1',
          filename: 'orders.jsonl',
          expiresAt: timestampFromMs(NOW + DAY_MS),
        }),
      );
      expect(await store.commitFile('demo', 'file_1', { ...described, filename: 'other' }, NOW)).toEqual(file);
      expect(await store.findFile('demo', 'file_1', NOW)).toEqual(file);
      expect(await store.findFile('other', 'file_1', NOW)).toBeUndefined();
      expect(await store.findReservation('demo', 'file_1', NOW)).toBeUndefined();
      await store.renewReservation('file_1', NOW);
      expect(timestampMs((await store.findFile('demo', 'file_1', NOW))!.expiresAt!)).toBe(NOW + DAY_MS);
      // the bytes are kept as long as the file
      expect((await store.find('file_1'))?.expiresAt).toBe(NOW + DAY_MS);
      expect(await store.takeGarbage(NOW + DAY_MS / 2, 10)).toEqual([]);
    });

    test('files and bytes of an account have bounds, with reservations; an output is counted and not refused', async () => {
      const { store } = await opened();
      const reserve = async (id: string, over: Partial<FileReservation> = {}, isBound = true) =>
        (await store.reserveFile(aReservation(id, over), NOW, isBound ? BOUNDS : undefined)).kind;

      expect(await reserve('file_1', { bytes: 91 })).toBe('reserved');
      expect(await reserve('file_2', { bytes: 10 })).toBe('full');
      expect(await reserve('file_2', { bytes: 10, accountId: 'other' })).toBe('reserved');
      expect(await reserve('file_3', { bytes: 5 })).toBe('reserved');
      expect(await reserve('file_4', { bytes: 500, purpose: 'batch_output' }, false)).toBe('reserved');
      expect(await reserve('file_5', { bytes: 0 })).toBe('full');
      // the reservations end by themselves
      expect((await store.reserveFile(aReservation('file_6'), NOW + 60_000, BOUNDS)).kind).toBe('reserved');
    });

    test('concurrent reservations see each other', async () => {
      const { store } = await opened();
      const kinds = await Promise.all(
        ['1', '2', '3', '4', '5'].map(
          async (n) => (await store.reserveFile(aReservation(`file_${n}`), NOW, BOUNDS)).kind,
        ),
      );

      expect(kinds.filter((kind) => kind === 'reserved')).toHaveLength(BOUNDS.filesMax);
    });

    test('a key has one file: a second writer continues its reservation, or gets the file', async () => {
      const { store } = await opened();
      const keyed = { key: 'batch:1:output', purpose: 'batch_output' } as const;
      await store.reserveFile(aReservation('file_1', keyed), NOW, undefined);

      expect(await store.reserveFile(aReservation('file_2', keyed), NOW, undefined)).toMatchObject({
        kind: 'reserved',
        reservation: { id: 'file_1' },
      });
      expect(
        await store.reserveFile(aReservation('file_3', { ...keyed, accountId: 'other' }), NOW, undefined),
      ).toMatchObject({ kind: 'reserved', reservation: { id: 'file_3' } });
      await receive(store, 'file_1', 'aa');
      await store.commitFile('demo', 'file_1', described, NOW);
      expect(await store.reserveFile(aReservation('file_4', keyed), NOW, undefined)).toMatchObject({
        kind: 'exists',
        file: { id: 'file_1' },
      });
      // an expired file that is not swept yet is not in the way
      expect(await store.reserveFile(aReservation('file_5', keyed), NOW + DAY_MS, undefined)).toMatchObject({
        kind: 'reserved',
        reservation: { id: 'file_5' },
      });
    });

    test('pages follow the time of the files in both directions, past a file that is gone', async () => {
      const { store } = await opened();
      for (const n of ['1', '2', '3', '4'])
        await keep(store, `file_${n}`, n === '2' ? { purpose: 'batch_output' } : {});
      await keep(store, 'file_9', { accountId: 'other' });
      await store.reserveFile(aReservation('file_5'), NOW, undefined);
      const list = async (over: MessageInitShape<typeof ListFilesRequestSchema>) => {
        const page = create(ListFilesRequestSchema, { accountId: 'demo', limit: 2, ...over });
        return (await store.listFiles(page, NOW)).map(({ id }) => id);
      };

      expect(await list({})).toEqual(['file_4', 'file_3']);
      await store.removeFile('demo', 'file_3', NOW);
      expect(await list({ after: 'file_3' })).toEqual(['file_2', 'file_1']);
      expect(await list({ ascending: true })).toEqual(['file_1', 'file_2']);
      expect(await list({ ascending: true, after: 'file_1', limit: 9 })).toEqual(['file_2', 'file_4']);
      expect(await list({ purpose: FilePurpose.BATCH, limit: 9 })).toEqual(['file_4', 'file_1']);
    });

    test('a removal frees the bytes that no other file has, and only the owner can remove', async () => {
      const { sql, store } = await opened();
      await keep(store, 'file_1');
      await keep(store, 'file_2');

      expect(await store.removeFile('other', 'file_1', NOW)).toEqual({ removed: false, key: undefined });
      expect(await store.removeFile('demo', 'file_1', NOW)).toEqual({ removed: true, key: undefined });
      expect(await store.removeFile('demo', 'file_1', NOW)).toEqual({ removed: false, key: undefined });
      expect(await store.removeFile('demo', 'file_2', NOW)).toEqual({ removed: true, key: 'aa-file_1' });
      await store.reserveFile(aReservation('file_3'), NOW, undefined);
      expect(await store.removeFile('demo', 'file_3', NOW)).toEqual({ removed: false, key: undefined });
      for (const table of ['files', 'objects', 'blobs']) expect(await sql.read(`SELECT * FROM ${table}`)).toEqual([]);
    });

    test('the sweep ends expired files with their bytes', async () => {
      const { sql, store } = await opened();
      await keep(store, 'file_1');
      const later = NOW + DAY_MS;

      expect(await store.findFile('demo', 'file_1', later)).toBeUndefined();
      await store.expireObjects(later, 10);
      expect(await store.takeGarbage(later, 10)).toEqual(['aa-file_1']);
      await store.forgetSpent(later, 10);
      for (const table of ['files', 'objects', 'blobs']) expect(await sql.read(`SELECT * FROM ${table}`)).toEqual([]);
    });
  },
  migrations,
);
