"""The zarr-python that most scripts here test with, and what its tests need."""

VERSION = "3.4.2"
NEEDS = (
    f"zarr[remote,optional,cli,cast-value-rs]=={VERSION}",
    "numcodecs[msgpack,pcodec,crc32c]==0.17.1",
    "aiohttp",
    "botocore",
    "hypothesis==6.168.3",
    "ml_dtypes",
    "moto[s3,server]==5.2.3",
    "numpydoc==1.11.0",
    "pytest==9.1.1",
    "pytest-accept==0.3.0",
    "pytest-asyncio==1.4.0",
    "pytest-benchmark==5.3.0",
    "pytest-codspeed==5.0.3",
    "pytest-mock",
    "pytest-xdist==3.8.0",
    "requests==2.34.2",
    "s3fs",
    "tomlkit==0.15.1",
    "uv==0.13.4",
    "zfpy==1.0.1",
)
