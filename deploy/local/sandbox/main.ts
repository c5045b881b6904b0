import { PRIVATE_UMASK } from '../../program/data-folder/private-umask.ts';
import { startSandbox } from './sandbox.ts';

process.umask(PRIVATE_UMASK);

/*
 * The sandbox as a program of its own: SANDBOX_LISTEN is its address, SANDBOX_KEY the key that channels send,
 * SANDBOX_PUBLIC_HOST the address in the links to its results if that is another one, and SANDBOX_DATA the folder where
 * its tasks outlive it.
 */
const { SANDBOX_LISTEN: listen = '127.0.0.1:9200', SANDBOX_KEY: key } = process.env;
const { SANDBOX_PUBLIC_HOST: publicHost, SANDBOX_DATA: folder } = process.env;

if (key === undefined || key === '') {
  console.error('SANDBOX_KEY is not set; expected the key that channels send');
  process.exitCode = 2;
} else {
  const sandbox = await startSandbox({
    listen,
    key,
    ...(publicHost === undefined ? {} : { publicHost }),
    ...(folder === undefined ? {} : { folder }),
  });
  console.log(`sandbox: ${sandbox.url}`);
  const stop = (): void => {
    void sandbox.stop();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
