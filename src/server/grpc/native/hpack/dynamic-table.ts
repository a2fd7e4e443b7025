// The dynamic table of RFC 7541, section 2.3.2: the newest entries first, the oldest dropped as space is needed.

/** Section 4.1: what an entry counts beyond its name and value. */
export const ENTRY_OVERHEAD_BYTES = 32;

export class DynamicTable {
  /** Changes with every change of the table: the same block read at the same version gives the same headers. */
  version = 0;
  private bytesMax: number;
  /** Octets of all entries, as section 4.1 counts them. */
  private bytes = 0;
  /** A ring: names and values of the entries, the newest at `newest`. */
  private names: string[];
  private values: string[];
  private newest = 0;
  private count = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    const places = placesFor(bytesMax);
    this.names = new Array<string>(places).fill('');
    this.values = new Array<string>(places).fill('');
  }

  get length(): number {
    return this.count;
  }

  get sizeMax(): number {
    return this.bytesMax;
  }

  /** The name of an entry; 0 is the newest one. `at` is below `length`. */
  nameAt(at: number): string {
    return this.names[this.placeOf(at)]!;
  }

  valueAt(at: number): string {
    return this.values[this.placeOf(at)]!;
  }

  /** Section 4.3: drops old entries. */
  resize(bytesMax: number): void {
    if (bytesMax === this.bytesMax) return;
    this.version += 1;
    this.bytesMax = bytesMax;
    this.evict(bytesMax);
    const places = placesFor(bytesMax);
    // A peer may shrink and grow its table as often as it likes, up to the size that it was made with.
    if (places <= this.names.length) return;
    const kept = Array.from({ length: this.count }, (_, at) => this.count - 1 - at);
    const names = kept.map((at) => this.nameAt(at));
    const values = kept.map((at) => this.valueAt(at));
    this.names = [...names, ...new Array<string>(places - this.count).fill('')];
    this.values = [...values, ...new Array<string>(places - this.count).fill('')];
    this.newest = Math.max(this.count - 1, 0);
  }

  /** Section 4.4: an entry larger than the table empties it. */
  add(name: string, value: string): void {
    const size = name.length + value.length + ENTRY_OVERHEAD_BYTES;
    this.version += 1;
    this.evict(this.bytesMax - size);
    if (size > this.bytesMax) return;
    this.newest = (this.newest + 1) % this.names.length;
    this.names[this.newest] = name;
    this.values[this.newest] = value;
    this.bytes += size;
    this.count += 1;
  }

  private evict(toBytes: number): void {
    while (this.count > 0 && this.bytes > toBytes) {
      const place = this.placeOf(this.count - 1);
      this.bytes -= this.names[place]!.length + this.values[place]!.length + ENTRY_OVERHEAD_BYTES;
      this.names[place] = '';
      this.values[place] = '';
      this.count -= 1;
    }
  }

  private placeOf(at: number): number {
    const place = this.newest - at;
    return place < 0 ? place + this.names.length : place;
  }
}

/** Entries that fit a table, and one place more. */
function placesFor(bytesMax: number): number {
  return Math.floor(bytesMax / ENTRY_OVERHEAD_BYTES) + 1;
}
