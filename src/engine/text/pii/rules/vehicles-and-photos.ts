// Vehicles by the check digit of their number, and files that are pictures of a person.
import { borderedMatches } from '../borders.ts';
import { vehicleNumber } from '../checksums.ts';
import { BY_CUE, type Scan } from '../scan.ts';

const VIN = /(?=[A-Z0-9]{0,16}\d{4})[A-HJ-NPR-Z0-9]{17}/g;
const PICTURE = /(?<![\w-])[\w-]{1,120}\.(?:jpe?g|png|heic|gif|webp|tiff?|bmp)\b/gi;
const OF_A_PERSON = /selfie|portrait|headshot|photo|passport|face|profile|mugshot|avatar|scan_id|id_card/i;

export function findVehicles(scan: Scan): void {
  if (scan.digits < 4) return;
  for (const { 0: number, index } of borderedMatches(scan.text, VIN))
    if (/[A-Z]/.test(number) && vehicleNumber(number))
      scan.add('vehicle_id', index, index + number.length, 1, 'checksum');
}

export function findPhotos(scan: Scan): void {
  if (!scan.text.includes('.')) return;
  for (const { 0: file, index } of scan.text.matchAll(PICTURE)) {
    const announced = scan.announced('photo', index) || scan.explained('photo', index + file.length);
    if (announced || OF_A_PERSON.test(file))
      scan.add('photo_reference', index, index + file.length, announced ? BY_CUE : 0.85);
  }
}
