"""What `./run release` puts into dist/: wheel, sdist, Maven layout, bill of materials, licences, notes, checksums."""
