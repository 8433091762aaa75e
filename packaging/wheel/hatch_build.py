"""What `cargo xtask wheel` decides and the build backend must know: version, the runtime that it belongs to, and platform.

An adapter's tables have the layout of one oneAPI release, so each release has a wheel of its own whose version begins with the
release's and which needs that release's runtime. Without a version pip takes the newest, and with it that release's runtime,
whatever is installed.
"""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Metadata(MetadataHookInterface):
    def update(self, metadata):
        release = os.environ["UR_WHEEL_RELEASE"]
        metadata["version"] = os.environ["UR_WHEEL_VERSION"]
        metadata["dependencies"] = [f"intel-sycl-rt=={release}.*"]


class Build(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = os.environ["UR_WHEEL_TAG"]
