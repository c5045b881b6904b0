import { connect } from 'node:net';

const HEAD_END = '\r\n\r\n';

/**
 * Keeps this many fetches under way and drops their bytes. Returns bytes per second. The client does as little work as
 * possible, because the server is measured.
 */
export async function downloads(
  port: number,
  target: string,
  atOnce: number,
): Promise<{ readonly bytesPerSecond: number; readonly bytes: number }> {
  const start = performance.now();
  const each = await Promise.all(Array.from({ length: atOnce }, () => download(port, target)));
  const bytes = each.reduce((sum, one) => sum + one, 0);
  return { bytes, bytesPerSecond: (bytes * 1000) / (performance.now() - start) };
}

function download(port: number, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let head = '';
    let received = -1;
    let wanted = 0;
    const into = Buffer.alloc(256 * 1024);
    const socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: into,
        callback: (count) => {
          if (received >= 0) received += count;
          else {
            head += into.toString('latin1', 0, count);
            const end = head.indexOf(HEAD_END);
            if (end < 0) return true;
            wanted = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
            if (!head.startsWith('HTTP/1.1 200')) socket.destroy(new Error(head.slice(0, end)));
            received = head.length - end - HEAD_END.length;
          }
          if (received === wanted) {
            socket.destroy();
            resolve(received);
          }
          return true;
        },
      },
    });
    socket.once('error', reject).once('close', () => {
      reject(new Error(`it broke off after ${received} bytes`));
    });
    socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
  });
}
